"""Layouts in boxes: tiles of the cube core lie box by box, each box row by row or column by column."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import element_bits
from pypto_tmpl.ir.extents import constant_extent

_LINE = 256  # bits of a row of a box of 512 bytes
_ROWS = 16
_SCALES = 2
_WIDE, _NARROW = 1024, 32
FRACTALS = (512, _WIDE, _NARROW)
"""The bytes that boxes may have."""
_COMPACT_ROWS = 16
ACC_ROWS, WIDE_ACC_ROWS = 16, 32
"""Rows of which an accumulator has whole numbers; of INT32, some generations of hardware have the second."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """How elements lie: in boxes of ``height`` by ``width``, which make up ``rows`` by ``columns``.

    ``is_by_rows`` says that boxes follow each other along a row of them, ``is_row_major`` that elements do so
    within a box.
    """

    is_by_rows: bool
    is_row_major: bool
    fractal: int
    height: int
    width: int
    rows: int
    columns: int

    @property
    def name(self) -> str:
        """Two letters, of the order of boxes and of that within a box: Z is by rows, N by columns."""
        letters = {True: "Z", False: "N"}
        return letters[self.is_by_rows] + letters[self.is_row_major]

    @property
    def is_scattered(self) -> bool:
        """Whether boxes cut rows, or columns, so that no strides lead along a row and along a column."""
        return self.columns > self.width if self.is_row_major else self.rows > self.height

    @property
    def extent(self) -> int:
        """Elements from the first to the last."""
        return self.rows * self.columns

    def part(self, rows: int, columns: int) -> Boxes:
        """The boxes of a window of so many rows and columns, which may be smaller than a box."""
        height, width = min(self.height, rows), min(self.width, columns)
        return replace(self, height=height, width=width, rows=rows, columns=columns)


def boxes_of(
    view: ir.TileView, shape: tuple[int, ...], dtype: ir.DataType, acc_rows: int = ACC_ROWS
) -> Boxes | None:
    """The boxes of a tile of two axes, None where it lies without any.

    A compact tile has as many rows of boxes as its valid rows fill. An accumulator has those that hold
    ``acc_rows`` or a multiple of them. Another tile that does not fill its boxes, such as a single row, is
    taken to lie by rows: allocations have no bytes for the rest of them.
    """
    if view.slayout is ir.TileLayout.none_box or len(shape) != 2:
        return None
    is_row_major = view.slayout is ir.TileLayout.row_major
    long, short = _ROWS, _LINE // element_bits(dtype)
    if view.fractal == _WIDE:
        short = _ROWS
    elif view.fractal == _NARROW:
        short = _SCALES
    height, width = (long, short) if is_row_major else (short, long)
    is_accumulator = view.fractal == _WIDE
    if (shape[0] % height and not is_accumulator) or shape[1] % width:
        return None
    rows = _ceil(shape[0], acc_rows) if is_accumulator else shape[0]
    if view.compact is ir.CompactMode.normal and view.valid_shape:
        valid = constant_extent(view.valid_shape[0])
        rows = rows if valid is None else min(rows, _ceil(valid, _COMPACT_ROWS))
    return Boxes(
        view.blayout is ir.TileLayout.row_major,
        is_row_major,
        view.fractal,
        height,
        width,
        _ceil(rows, height),
        _ceil(shape[1], width),
    )


def _ceil(number: int, step: int) -> int:
    return -(-number // step) * step
