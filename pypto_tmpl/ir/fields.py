"""Field declarations: what the dataclass annotations of a node or type say about its fields.

Wire format, visitor, mutator, structural comparison and hashing all walk these declarations, so that
a field exists for all of them or for none.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import FieldRole, IRNode, Type
from pypto_tmpl.ir.types import TensorView, TileView


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One declared field: a ``base``, a tuple of them if ``many``, possibly None if ``optional``."""

    name: str
    base: type
    many: bool
    optional: bool
    role: FieldRole

    @property
    def is_node(self) -> bool:
        return issubclass(self.base, IRNode)


_FIELDS: dict[type, tuple[FieldSpec, ...]] = {}
_NODE_FIELDS: dict[type, tuple[FieldSpec, ...]] = {}


def fields_of(cls: type) -> tuple[FieldSpec, ...]:
    """Declared fields of a node, type or view class, in wire order. Raises TypeError for another class."""
    if cls not in _FIELDS:
        _FIELDS[cls] = _declared(cls)
    return _FIELDS[cls]


def _declared(cls: type) -> tuple[FieldSpec, ...]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple(_spec(f.name, hints[f.name]) for f in fields(cls) if not f.name.startswith("_"))


def node_fields_of(cls: type) -> tuple[FieldSpec, ...]:
    """The fields of ``cls`` that hold nodes, types, attributes or views: where a walk descends."""
    if cls not in _NODE_FIELDS:
        _NODE_FIELDS[cls] = _walked(cls)
    return _NODE_FIELDS[cls]


def _walked(cls: type) -> tuple[FieldSpec, ...]:
    walked = (IRNode, Type, AttrMap, TensorView, TileView)
    return tuple(spec for spec in fields_of(cls) if issubclass(spec.base, walked))


def _spec(name: str, hint: object) -> FieldSpec:
    role = FieldRole.COMPARED
    if typing.get_origin(hint) is typing.Annotated:
        hint, role = typing.get_args(hint)
    optional = many = False
    if isinstance(hint, types.UnionType):
        hint, none = typing.get_args(hint)
        assert none is type(None), f"{name}: only `X | None` unions are fields"
        optional = True
    if typing.get_origin(hint) is tuple:
        hint, ellipsis = typing.get_args(hint)
        assert ellipsis is ..., f"{name}: only homogeneous tuples are fields"
        many = True
    if typing.get_origin(hint) is dict:
        hint = dict
    assert isinstance(hint, type), f"{name}: {hint!r}"
    return FieldSpec(name, hint, many, optional, role)
