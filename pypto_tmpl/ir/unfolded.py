"""How large IR is when what is shared is written out wherever it stands.

A blob of a kilobyte can hold nodes that share so much that their text would fill any memory.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import Expr, FieldRole
from pypto_tmpl.ir.buffers import MemRef
from pypto_tmpl.ir.fields import node_fields_of
from pypto_tmpl.ir.leaves import IterArg, Var

MAX_PARTS = 2 * 10**6
"""Parts of IR that are written or visited one by one; the largest real dump known has a few thousand."""

_Part: TypeAlias = "tuple[Any, bool]"
"""An object, and whether it stands where a variable is defined: elsewhere a variable is just a name."""


def unfolded_size(root: object) -> int:
    """Number of nodes, types and views in ``root``, each counted as often as it stands there."""
    sizes: dict[tuple[int, bool], int] = {}
    opened: dict[tuple[int, bool], list[_Part]] = {}
    stack: list[_Part] = [(root, True)]
    while stack:
        owner, defines = stack[-1]
        key = (id(owner), defines)
        if key in sizes:
            stack.pop()
        elif (inner := opened.get(key)) is not None:
            stack.pop()
            sizes[key] = 1 + sum(sizes[id(found), role] for found, role in inner)
        else:
            opened[key] = inner = _parts(owner, defines)
            stack += inner
    return sizes[id(root), True]


def _parts(owner: Any, defines: bool) -> list[_Part]:
    if isinstance(owner, AttrMap):
        return [(found, False) for found in owner.expressions()]
    if isinstance(owner, MemRef):
        return [(found, False) for found in (owner.byte_offset_, owner.slot_index_) if found is not None]
    if isinstance(owner, Var):
        if not defines:
            return []
        return [(owner.type, False), *([(owner.initValue, False)] if isinstance(owner, IterArg) else [])]
    found: list[_Part] = [(function, True) for function in getattr(owner, "functions", {}).values()]
    for spec in node_fields_of(type(owner)):
        if spec.name == "type" and isinstance(owner, Expr):
            continue  # not written where the expression stands
        value = getattr(owner, spec.name)
        items = value if spec.many else () if value is None else (value,)
        found += [(item, spec.role is FieldRole.DEFINITION) for item in items]
    return found
