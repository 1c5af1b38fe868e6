"""Which blocks of a product fit the memories of the matrix unit, and which of those take the least time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.passes.tiles.bands import MATRIX, constants

_BYTE = 8
_BOX_BYTES = 32  # of one row of a box
_WIDE = 4  # bytes of the operands that take several passes on some hardware


class Regime(Enum):
    """Which operand stays in L0 while the others move."""

    Output = "output"
    Left = "left"
    Right = "right"


@dataclass(frozen=True, slots=True)
class Block:
    """A choice: the extents of a block, and what stays while the others move."""

    m: int
    n: int
    k: int
    regime: Regime
    holds_left: bool  # the outer loop goes over panels of the left operand


@dataclass(frozen=True)
class Problem:
    """A product of ``rows x depth`` and ``depth x columns``."""

    rows: int
    columns: int
    depth: int
    left: ir.DataType
    right: ir.DataType
    out: ir.DataType
    backend: BackendFacts
    has_bias: bool = False

    @cached_property
    def step(self) -> int:
        """Of what the extents of blocks are multiples."""
        least = self.backend.l0.min_tile
        if not self.has_bias:
            return least
        return max(least, *(_BOX_BYTES // max(1, _bytes(dtype)) for dtype in (self.left, self.right)))

    def capacity(self, space: MemorySpace, dtype: ir.DataType, buffers: int = 1) -> int:
        """How many elements fit."""
        return (self.backend.capacity(space) or 0) * _BYTE // (dtype.get_bit() * buffers)

    def output_size(self, m: int, n: int) -> int:
        """Elements that a block takes in the accumulator."""
        return -(-m // (rows := self.backend.acc_row_alignment(self.out))) * rows * n

    def fits_output(self, m: int, n: int) -> bool:
        """Whether a block fits the accumulator."""
        return self.output_size(m, n) <= self.capacity(MemorySpace.Acc, self.out)

    def choose(self, *, output_stays: bool = False, is_whole: bool = False) -> Block | None:
        """The best block, None if there is none.

        ``output_stays`` allows no other regime; ``is_whole`` only blocks of all rows and columns.
        """
        whole = (self.rows, self.columns, self.depth)
        best = self._best(Regime.Output, is_whole)
        if output_stays or is_whole or (best is not None and best[0] == whole):
            return self._block(best, Regime.Output)
        found = self._block(best, Regime.Output)
        wall = None if best is None else best[1]
        for regime in (Regime.Left, Regime.Right):
            other = self._best(regime, is_whole)
            if other is not None and (wall is None or other[1] < wall):
                found, wall = self._block(other, regime), other[1]
        return found

    def _block(self, best: tuple[tuple[int, int, int], int] | None, regime: Regime) -> Block | None:
        if best is None:
            return None
        m, n, k = best[0]
        holds_left = regime is Regime.Left or (
            regime is Regime.Output and self._held(m, n)[0] <= self._held(m, n)[1]
        )
        return Block(m, n, k, regime, holds_left)

    def _best(self, regime: Regime, is_whole: bool) -> tuple[tuple[int, int, int], int] | None:
        """The best extents of a regime with the time they take; the first of equals."""
        best: tuple[tuple[float, ...], tuple[int, int, int]] | None = None
        for block in self._blocks(regime, is_whole):
            cost = self._cost(*block, regime)
            if best is None or cost < best[0]:
                best = cost, block
        return None if best is None else (best[1], int(best[0][0]))

    def _blocks(self, regime: Regime, is_whole: bool) -> Iterator[tuple[int, int, int]]:
        """The blocks that fit. Of an operand that moves two do: one is loaded while the other is used."""
        left = self.capacity(MemorySpace.Left, self.left, 1 if regime is Regime.Left else 2)
        right = self.capacity(MemorySpace.Right, self.right, 1 if regime is Regime.Right else 2)
        step, deepest = self.step, self.depth
        if is_whole and (self.rows % step or self.columns % step):
            return
        least = step if regime is Regime.Output else deepest
        for m in range(self.rows if is_whole else step, self.rows + 1, step):
            if m * least > left:
                break
            for n in range(self.columns if is_whole else step, self.columns + 1, step):
                if n * least > right or not self.fits_output(m, n):
                    break
                most = min(deepest, left // m, right // n)
                for k in range(least, most + 1, step):
                    if not self.has_bias or n <= self._bias_columns(m, n, k, regime):
                        yield m, n, k

    def _bias_columns(self, m: int, n: int, k: int, regime: Regime) -> int:
        """How many columns the bias of a block may have: those on their way at a time share the table."""
        table = self.capacity(MemorySpace.Bias, self.out)
        is_grid = k == self.depth and (m, n) != (self.rows, self.columns)
        if not is_grid:
            return table
        if regime is not Regime.Output:
            return table // 2 if regime is Regime.Left else table
        held = self._held(m, n)
        return table // 4 if held[0] <= held[1] else table // 2

    def _held(self, m: int, n: int) -> tuple[float, float]:
        """The time of loading if panels of the left operand, or of the right one, stay in the outer loop."""
        down, across = -(-self.rows // m), -(-self.columns // n)
        left = _bytes(self.left) * self.rows * self.depth / self.backend.l0.matmul.left_rate
        right = _bytes(self.right) * self.depth * self.columns / self.backend.l0.matmul.right_rate
        return left + right * down, left * across + right

    def _cost(self, m: int, n: int, k: int, regime: Regime) -> tuple[float, ...]:
        """What is compared: less is better, the first that differs decides."""
        down, across, deep = -(-self.rows // m), -(-self.columns // n), -(-self.depth // k)
        load = self._load(m, n, k, regime)
        wall = int(max(load, self._multiply(m, n, k)) + self._drain(m, n) + 0.5)
        return wall, down * m * across * n * deep * k, deep, load, -m * n, -k

    def _load(self, m: int, n: int, k: int, regime: Regime) -> float:
        held = self._held(m, n)
        if regime is not Regime.Output:
            return held[0] if regime is Regime.Left else held[1]
        if k == self.depth:
            return min(held)
        costs, down, across = self.backend.l0.matmul, -(-self.rows // m), -(-self.columns // n)
        left = _bytes(self.left) * self.rows * self.depth * across / costs.left_rate
        return left + _bytes(self.right) * self.depth * self.columns * down / costs.right_rate

    def _multiply(self, m: int, n: int, k: int) -> float:
        costs, size = self.backend.l0.matmul, _bytes(self.left)
        down, across, deep = -(-self.rows // m), -(-self.columns // n), -(-self.depth // k)
        fraction = _BOX_BYTES // size
        fractals = self.depth // k * -(-k // fraction) + -(-(self.depth % k) // fraction)
        passes = costs.fp32_passes if size == _WIDE else max(1, size // 2)
        return down * across * (deep * costs.start + passes * -(-m // 16) * fractals * -(-n // 16))

    def _drain(self, m: int, n: int) -> float:
        costs, size = self.backend.l0.matmul, _bytes(self.out)
        boxes = -(-n // (_BOX_BYTES // size))
        odd = boxes // (boxes & -boxes)
        row = max(costs.drain_row, size * n / costs.drain_rate) + costs.drain_penalty * (odd - 1)
        return -(-self.rows // m) * -(-self.columns // n) * (costs.drain_start + m * row)


def sizes(value: ir.Expr) -> tuple[int, int] | None:
    """Rows and columns of a tile of constant extents that is valid as a whole; None for any other."""
    type_ = value.type
    if not isinstance(type_, ir.TileType) or (type_.tile_view is not None and type_.tile_view.valid_shape):
        return None
    extents = constants(type_.shape)
    return None if extents is None or len(extents) != MATRIX else (extents[0], extents[1])


def problem_of(
    left: ir.Expr, right: ir.Expr, result: ir.Expr, backend: BackendFacts, *, has_bias: bool = False
) -> Problem | None:
    """A product of two tiles; None where not all of them are valid as a whole, and of constant extents."""
    rows, columns, whole = sizes(left), sizes(right), sizes(result)
    if rows is None or columns is None or whole != (rows[0], columns[1]) or rows[1] != columns[0]:
        return None
    types = [value.type.dtype for value in (left, right, result) if isinstance(value.type, ir.TileType)]
    return Problem(rows[0], columns[1], rows[1], types[0], types[1], types[2], backend, has_bias)


def _bytes(dtype: ir.DataType) -> int:
    return max(1, dtype.get_bit() // _BYTE)
