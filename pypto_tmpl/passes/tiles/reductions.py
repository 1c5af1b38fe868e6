"""What a reduction over ranks moves: pieces of windows, filled up with zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace, PadValue
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.ranks import Ranks, number
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.views import packed_view

COMBINES: Mapping[int, str] = MappingProxyType(
    {0: "tile.add", 1: "tile.maximum", 2: "tile.minimum", 3: "tile.mul"}
)
"""The tile op by the code of a reduction."""
CHUNK = 16384
"""Bytes that go through a tile at once."""
_TRANSFER = 32  # bytes of the least transfer between ranks


@dataclass(frozen=True, slots=True)
class Piece:
    """What moves at once: a tile of a shape, of which so much is valid, from a place of a matrix."""

    place: Sequence[int | ir.Expr]
    shape: Sequence[int]
    valid: Sequence[int | ir.Expr]


@dataclass(slots=True)
class Reduction:
    """The values of all ranks combined by a tile op, in the dtype of the window."""

    ranks: Ranks
    combine: str
    dtype: ir.DataType

    @property
    def recipe(self) -> Recipe:
        """Where the statements go."""
        return self.ranks.recipe

    @property
    def unit(self) -> int:
        """How many elements the least transfer between ranks has."""
        return _TRANSFER * 8 // self.dtype.get_bit()

    def whole_units(self, extent: ir.Expr) -> ir.Expr:
        """An extent rounded up to whole transfers."""
        return ir.mul(ir.floordiv(ir.add(extent, self.unit - 1), self.unit), self.unit)

    def local(self, name: str, window: ir.Expr, piece: Piece, loaded: str = "") -> ir.Var:
        """This rank's piece, filled up with zeros."""
        load = self.recipe.emit(
            "tile.load", window, piece.place, piece.shape, piece.valid, target_memory=MemorySpace.Vec
        )
        return self._filled(name, load, loaded)

    def received(
        self, name: str, window: ir.Var, rank: ir.Expr, piece: Piece, end: int | ir.Expr, rest: ir.Expr
    ) -> ir.Var:
        """The piece of another rank, filled up with zeros, of a row of ``end`` elements.

        Narrow ones are transferred in whole units, of the ``rest`` that is left, and cut after that: the last
        unit may lie partly behind the end.
        """
        rows, columns = piece.valid
        if self.dtype.get_bit() >= 32:
            load = self.recipe.emit(
                "pld.tile.remote_load", window, rank, piece.place, piece.shape, piece.valid
            )
            return self._filled(name, load)
        load = self.recipe.emit(
            "pld.tile.remote_load",
            window,
            rank,
            piece.place,
            piece.shape,
            [rows, self.whole_units(as_expr(columns))],
            allow_physical_tail_padding=True,
            result_type=self._padded_type(piece, end, rest),
        )
        loaded = self.recipe.let(f"{name}_loaded", load)
        return self._filled(
            name, self.recipe.emit("tile.set_validshape", loaded, rows, columns), f"{name}_tail"
        )

    def _filled(self, name: str, load: ir.Call, loaded: str = "") -> ir.Var:
        value = self.recipe.let(loaded or f"{name}_loaded", load)
        return self.recipe.let(name, self.recipe.emit("tile.fillpad_inplace", value, pad_value=PadValue.zero))

    def _padded_type(self, piece: Piece, end: int | ir.Expr, rest: ir.Expr) -> ir.TileType:
        last = ir.sub(
            end + self.unit - 1 if isinstance(end, int) else ir.add(end, self.unit - 1),
            as_expr(piece.place[1]),
        )
        present = ir.min_(ir.max_(last, 0), piece.shape[1])
        view = ir.TileView([piece.valid[0], ir.min_(self.whole_units(rest), present)])
        return ir.TileType(list(piece.shape), self.dtype, None, view)


@dataclass(slots=True)
class RowReduction(Reduction):
    """A reduction of the first elements of a window; how many they are may be an expression."""

    elements: int | ir.Expr

    def row(self, target: ir.Expr) -> ir.Var:
        """The window as one row."""
        assert isinstance(target.type, ir.TensorType)
        view = packed_view(target, (1, element_count(target.type.shape)), self.recipe.call.span)
        return self.recipe.let("target_2d", view)

    def chunk(self, most: int | ir.Expr) -> int:
        """How many elements go at once, of at most so many."""
        size = CHUNK * 8 // self.dtype.get_bit()
        return min(most, size) if isinstance(most, int) else size


def element_count(extents: Sequence[ir.Expr]) -> int | ir.Expr:
    """How many elements a box has: a number where all its extents are."""
    sizes = [constant_extent(extent) for extent in extents]
    numbers = [size for size in sizes if size is not None]
    return prod(numbers) if len(numbers) == len(sizes) else reduce(ir.mul, extents)


def as_expr(value: int | ir.Expr) -> ir.Expr:
    """A number as an INDEX constant; an expression as it is."""
    return number(value) if isinstance(value, int) else value
