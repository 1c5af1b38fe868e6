"""How many bytes values take."""

from __future__ import annotations

import math

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.extents import constant_extent

_BYTE = 8
_PACKED = 4  # bits of dtypes of which two share a byte
_ACC_ROWS = 16  # where no backend is chosen


def storage_bytes(type_: ir.ShapedType, backend: BackendFacts | None) -> int | None:
    """The bytes of a tensor or tile; None where an extent is not constant.

    The matrix unit writes whole boxes of rows, so that a tile in Acc takes them all.
    """
    extents = [constant_extent(extent) for extent in type_.shape]
    known = [extent for extent in extents if extent is not None]
    if len(known) < len(extents):
        return None
    if isinstance(type_, ir.TileType) and type_.memory_space is MemorySpace.Acc and known:
        unit = _ACC_ROWS if backend is None else backend.acc_row_alignment(type_.dtype)
        known[0] = -(-known[0] // unit) * unit
    return packed_bytes(math.prod(known), type_.dtype)


def packed_bytes(elements: int, dtype: ir.DataType) -> int:
    """The bytes of elements that lie one behind the other."""
    return -(-elements * element_bits(dtype) // _BYTE)


def element_bits(dtype: ir.DataType) -> int:
    """The bits that an element takes in memory: no less than a byte, but for dtypes of four bits."""
    return _PACKED if dtype.get_bit() == _PACKED else dtype.get_byte() * _BYTE
