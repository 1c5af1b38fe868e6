"""What part of a tile a store with extents of its own writes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_value


def may_have_block(tile: Sequence[ir.Expr], block: Sequence[ir.Expr]) -> bool:
    """Whether a tile of that shape may have a block of those extents: as a corner, or flattened row by row.

    Only constants tell.
    """
    shape, extents = ([constant_value(extent) for extent in part] for part in (tile, block))
    sizes = [[size for size in part if size is not None] for part in (shape, extents)]
    return sizes != [shape, extents] or _has_block(*sizes)


def _has_block(tile: Sequence[int], block: Sequence[int]) -> bool:
    lead = max(len(block) - len(tile), 0)
    corner = [*([1] * (len(tile) - len(block))), *block[lead:]]
    is_corner = prod(block[:lead]) == 1 and all(
        size <= extent for size, extent in zip(corner, tile, strict=True)
    )
    is_rows = len(tile) == 2 and prod(block[:-1]) <= tile[0] and block[-1] <= tile[1]
    return is_corner or is_rows or prod(block) == prod(tile)
