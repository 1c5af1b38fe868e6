"""How many bytes values take."""

from __future__ import annotations

import math

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.dtypes import packed_bytes
from pypto_tmpl.ir.extents import constant_extent

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
