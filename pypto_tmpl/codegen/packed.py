"""Elements of four bits.

A tile has each in an element of its own. So has a tensor, but for FP4: torch's elements hold two.
"""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import HALF_BYTE

_TILE_CARRIERS = {"FP4": "FP8E4M3FN"}


def is_packed(type_: ir.Type) -> bool:
    """Whether two numbers along the last axis of a value share an element of the torch tensor."""
    return isinstance(type_, ir.TensorType) and type_.dtype.name == "FP4"


def carrier_name(type_: ir.ShapedType) -> str:
    """The dtype whose torch dtype the value has in a script."""
    name = type_.dtype.name
    return _TILE_CARRIERS.get(name, name) if isinstance(type_, ir.TileType) else name


def splits_bytes(call: ir.Call) -> bool:
    """Whether a result has bytes of the first operand as elements of four bits, or the other way round."""
    dtypes = {value.type.dtype for value in (call, *call.args[:1]) if isinstance(value.type, ir.TileType)}
    return len(dtypes) > 1 and any(dtype.get_bit() == HALF_BYTE for dtype in dtypes)
