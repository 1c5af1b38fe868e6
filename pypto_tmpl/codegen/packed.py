"""FP4: a tensor holds two numbers in one of torch's elements, a tile each number in an FP8 element."""

from __future__ import annotations

from pypto_tmpl import ir

_TILE_CARRIERS = {"FP4": "FP8E4M3FN"}


def is_packed(type_: ir.Type) -> bool:
    """Whether two numbers along the last axis of a value share an element of the torch tensor."""
    return isinstance(type_, ir.TensorType) and type_.dtype.name == "FP4"


def carrier_name(type_: ir.ShapedType) -> str:
    """The dtype whose torch dtype the value has in a script."""
    name = type_.dtype.name
    return _TILE_CARRIERS.get(name, name) if isinstance(type_, ir.TileType) else name
