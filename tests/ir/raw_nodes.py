"""Nodes as no constructor would make them."""

from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir.base import set_fields
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.ir.leaves import next_unique_id

N = TypeVar("N")


def raw_copy(node: N, **changes: object) -> N:
    """A copy of a node, type or view with fields replaced, past all checks; a copied Var is a new one."""
    twin = object.__new__(type(node))
    for spec in fields_of(type(node)):
        set_fields(twin, **{spec.name: changes.get(spec.name, getattr(node, spec.name))})
    if isinstance(node, ir.Var):
        set_fields(twin, _unique_id=next_unique_id())
    return twin
