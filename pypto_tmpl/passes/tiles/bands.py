"""Boxes of more than two axes as bands of rows: the leading axes counted off row by row."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_value, simplify
from pypto_tmpl.ir.extents import as_extent, constant_extent, same_extent

MATRIX = 2


def rank_of(value: ir.Expr) -> int:
    """How many axes a tile or tensor has; 0 for anything else."""
    return len(value.type.shape) if isinstance(value.type, ir.ShapedType) else 0


def is_deep(value: ir.Expr) -> bool:
    """Whether a value is a tile of more than two axes."""
    return isinstance(value.type, ir.TileType) and rank_of(value) > MATRIX


def constants(extents: Sequence[ir.Expr]) -> list[int] | None:
    """The extents as numbers, None where one is not constant."""
    found = [constant_extent(extent) for extent in extents]
    known = [extent for extent in found if extent is not None]
    return known if len(known) == len(found) else None


def flat_shape(shape: Sequence[int]) -> list[int]:
    """Rows and columns of a box."""
    return [prod(shape[:-1]), shape[-1]]


def is_band(part: Sequence[ir.Expr], whole: Sequence[ir.Expr]) -> bool:
    """Whether a part of a box is rows that follow each other: one of something, whole behind that.

    The last axis is free: it is the columns.
    """
    leading = list(zip(part[:-1], whole[:-1], strict=True))
    while leading and constant_value(leading[0][0]) == 1:
        leading = leading[1:]
    return all(same_extent(size, all_) for size, all_ in leading[1:])


def flat_extents(region: Sequence[ir.Expr]) -> list[ir.Expr]:
    """The extents of a band in rows and columns."""
    return [product(region[:-1]), region[-1]]


def flat_offsets(offsets: Sequence[ir.Expr], whole: Sequence[ir.Expr]) -> list[ir.Expr]:
    """Where a box begins, in rows and columns of the whole."""
    row: ir.Expr = as_extent(0)
    for offset, extent in zip(offsets[:-1], whole[:-1], strict=True):
        row = plus(product([row, extent]), offset)
    return [row, offsets[-1]]


def product(factors: Sequence[ir.Expr]) -> ir.Expr:
    """The product, constants folded."""
    found: ir.Expr = as_extent(1)
    for factor in factors:
        if constant_value(found) == 0 or constant_value(factor) == 1:
            continue
        found = factor if constant_value(found) == 1 else simplify(ir.mul(found, factor))
    return found


def plus(first: ir.Expr, second: ir.Expr | int) -> ir.Expr:
    """The sum, constants folded."""
    other = as_extent(second)
    if constant_value(other) == 0:
        return first
    return other if constant_value(first) == 0 else simplify(ir.add(first, other))
