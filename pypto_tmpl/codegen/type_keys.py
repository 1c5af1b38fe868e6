"""What macros are told of the types of operands and results, in a form that tells them apart."""

from __future__ import annotations

from collections.abc import Hashable

from pypto_tmpl import ir


class TypeKeys:
    """The keys of the types of one program, each made once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Hashable, ir.Type]] = {}  # by identity, which the type keeps meanwhile

    def key(self, type_: ir.Type) -> Hashable:
        """Dtype, rank, memory and layout of a tile or tensor, and the dtype of a scalar."""
        if type(type_) is ir.ScalarType:
            return type_.dtype.name
        found = self._known.get(id(type_))
        if found is None:
            found = self._known[id(type_)] = (_key_of(type_), type_)
        return found[0]


def _key_of(type_: ir.Type) -> Hashable:
    if isinstance(type_, ir.TileType):
        space = type_.memory_space
        return type_.dtype.name, len(type_.shape), None if space is None else space.name
    if isinstance(type_, ir.TensorType):
        view = type_.tensor_view
        return type_.dtype.name, len(type_.shape), "", None if view is None else view.layout.name
    if isinstance(type_, ir.ShapedType):
        return type(type_), type_.dtype.name, len(type_.shape)
    return None
