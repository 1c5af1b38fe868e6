"""What macros are told of the types of operands and results, in a form that tells them apart."""

from __future__ import annotations

from collections.abc import Hashable

from pypto_tmpl import ir


def type_key(type_: ir.Type) -> Hashable:
    """Dtype, rank, memory and layout of a tile or tensor, and the dtype of a scalar.

    Types are hardly ever shared, so that to look one up takes longer than to look at it.
    """
    if isinstance(type_, ir.TileType):
        return type_.dtype.name, len(type_.shape), type_.memory_space
    if isinstance(type_, ir.ScalarType):
        return type_.dtype.name
    if isinstance(type_, ir.TensorType):
        view = type_.tensor_view
        return type_.dtype.name, len(type_.shape), "", None if view is None else view.layout
    if isinstance(type_, ir.ShapedType):
        return type(type_), type_.dtype.name, len(type_.shape)
    return None
