"""Between which numbers the value of an integer expression is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pypto_tmpl import ir


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high``, both included; None where there is no bound."""

    low: int | None = None
    high: int | None = None

    def __add__(self, other: Range) -> Range:
        return Range(_sum(self.low, other.low), _sum(self.high, other.high))

    def __neg__(self) -> Range:
        return Range(*(None if end is None else -end for end in (self.high, self.low)))

    def times(self, factor: int) -> Range:
        """The range of a multiple."""
        if factor < 0:
            return (-self).times(-factor)
        return (
            Range(*(None if end is None else end * factor for end in (self.low, self.high)))
            if factor
            else ZERO
        )

    def within(self, other: Range) -> Range:
        """What is in both."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return Range(max(lows, default=None), min(highs, default=None))


ANY, ZERO = Range(), Range(0, 0)
_OF_CALLS = {
    "tile.get_block_idx": Range(0),
    "tile.get_subblock_idx": Range(0),
    "tile.get_block_num": Range(1),
    "tensor.dim": Range(0),
}


def range_of(expr: ir.Expr, known: Callable[[ir.Expr], Range | None]) -> Range:
    """The range of an expression of whose parts ``known`` gives the ranges."""

    def of(part: ir.Expr) -> Range:
        return known(part) or ANY

    if isinstance(expr, ir.ConstInt):
        return Range(expr.value, expr.value)
    if isinstance(expr, ir.Call):
        return _OF_CALLS.get(expr.op.name, ANY)
    if isinstance(expr, ir.Add):
        return of(expr.left) + of(expr.right)
    if isinstance(expr, ir.Sub):
        return of(expr.left) + -of(expr.right)
    if isinstance(expr, ir.Mul) and isinstance(expr.right, ir.ConstInt):
        return of(expr.left).times(expr.right.value)
    if isinstance(expr, ir.Min | ir.Max):
        return _chosen(expr, of(expr.left), of(expr.right))
    if isinstance(expr, ir.FloorDiv | ir.FloorMod) and isinstance(expr.right, ir.ConstInt):
        return _divided(expr, of(expr.left), expr.right.value)
    return ANY


def _chosen(expr: ir.Min | ir.Max, left: Range, right: Range) -> Range:
    ends = [(left.low, right.low), (left.high, right.high)]
    take = min if isinstance(expr, ir.Min) else max
    # The smaller of two is bounded above by either, below only by both; the greater the other way round.
    loose = 1 if isinstance(expr, ir.Min) else 0
    found: list[int | None] = []
    for place, pair in enumerate(ends):
        bounds = [end for end in pair if end is not None]
        found.append(take(bounds) if len(bounds) == 2 or (bounds and place == loose) else None)
    return Range(*found)


def _divided(expr: ir.FloorDiv | ir.FloorMod, value: Range, divisor: int) -> Range:
    if divisor <= 0:
        return ANY
    if isinstance(expr, ir.FloorDiv):
        return Range(*(None if end is None else end // divisor for end in (value.low, value.high)))
    is_inside = value.low is not None and value.low >= 0 and value.high is not None and value.high < divisor
    return value if is_inside else Range(0, divisor - 1)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
