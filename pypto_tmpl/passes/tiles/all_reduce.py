"""allreduce in kernels: chunk by chunk over all ranks (mesh), or segment by segment around a ring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace, PadValue
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.ranks import Cell, Ranks, number
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.views import packed_view

COMBINES: Mapping[int, str] = MappingProxyType(
    {0: "tile.add", 1: "tile.maximum", 2: "tile.minimum", 3: "tile.mul"}
)
"""The tile op by the code of a reduction."""
_CHUNK = 16384  # bytes that go through a tile at once
_TRANSFER = 32  # bytes of the least transfer between ranks


def all_reduce(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Reduce a window over all ranks, in place."""
    if len(call.args) != 2:
        raise recipe.error("in kernels a signal is given")
    target, signal = call.args
    type_ = target.type
    assert isinstance(type_, ir.TensorType)
    sizes = [constant_extent(extent) for extent in type_.shape]
    view = type_.tensor_view
    if None in sizes or (view is not None and view.valid_shape):
        raise recipe.error("only windows of constant extents that are valid as a whole are reduced")
    ranks = Ranks(recipe, signal)
    ranks.enter(target)
    elements = prod(size for size in sizes if size is not None)
    is_ring = call.kwargs.get("mode", "mesh") == "ring"
    reduction = (_Ring if is_ring else _Mesh)(ranks, COMBINES[call.kwargs["op"]], type_.dtype, elements)
    reduction.run(target)
    return target


@dataclass(slots=True)
class _Reduction:
    ranks: Ranks
    combine: str
    dtype: ir.DataType
    elements: int

    def flat(self, target: ir.Expr) -> ir.Var:
        """The window as one row."""
        return self.ranks.recipe.let(
            "target_2d", packed_view(target, (1, self.elements), self.ranks.recipe.call.span)
        )

    def chunk(self, most: int) -> int:
        """How many elements go at once."""
        return min(most, _CHUNK * 8 // self.dtype.get_bit())

    def local(self, name: str, window: ir.Expr, start: int | ir.Expr, chunk: int, valid: ir.Expr) -> ir.Var:
        """This rank's part, filled up with zeros."""
        space = MemorySpace.Vec
        load = self.ranks.recipe.emit(
            "tile.load", window, [0, start], [1, chunk], [1, valid], target_memory=space
        )
        return self.filled(name, load)

    def filled(self, name: str, load: ir.Call, loaded: str = "") -> ir.Var:
        let, emit = self.ranks.recipe.let, self.ranks.recipe.emit
        value = let(loaded or f"{name}_loaded", load)
        return let(name, emit("tile.fillpad_inplace", value, pad_value=PadValue.zero))


class _Mesh(_Reduction):
    """Each rank reads the parts of all others; before it writes its own, all have read."""

    __slots__ = ()

    def run(self, target: ir.Expr) -> None:
        recipe, ranks = self.ranks.recipe, self.ranks
        window = self.flat(target)
        ranks.barrier()
        chunk = self.chunk(self.elements)
        ranks.span_loop("col", 0, self.elements, chunk, lambda column: self._part(window, column, chunk))
        chunks = ir.floordiv(ir.add(self.elements, ir.sub(number(chunk), number(1))), number(chunk))
        total = ir.cast(ir.add(number(1), chunks), ir.DataType.INT32)
        ranks.reset(recipe.let("allreduce_reset_total", total))

    def _part(self, window: ir.Var, column: ir.Var, chunk: int) -> None:
        recipe, ranks = self.ranks.recipe, self.ranks
        valid = ir.min_(number(chunk), ir.sub(number(self.elements), column))
        first = self._first(window, column, chunk, valid)

        def add(rank: ir.Var, total: ir.Expr) -> ir.Expr:
            received = self._received(window, rank, column, chunk, valid)
            return recipe.let("acc_next", recipe.emit(self.combine, total, received))

        total = ranks.folded(first, add)
        expected = ir.cast(ir.add(ir.floordiv(column, chunk), 2), ir.DataType.INT32)
        ranks.barrier("_chunk", recipe.let("chunk_expected", expected))
        value = recipe.let("store_value", recipe.emit("tile.set_validshape", total, 1, valid))
        recipe.let("store_ret", recipe.emit("tile.store", value, [0, column], window))

    def _first(self, window: ir.Var, column: ir.Var, chunk: int, valid: ir.Expr) -> ir.Var:
        recipe = self.ranks.recipe
        space = MemorySpace.Vec
        load = recipe.emit("tile.load", window, [0, column], [1, chunk], [1, valid], target_memory=space)
        return self.filled("acc_initial", load, "acc_loaded")

    def _received(self, window: ir.Var, rank: ir.Var, column: ir.Var, chunk: int, valid: ir.Expr) -> ir.Var:
        """The part of another rank; narrow elements are transferred in whole units, and cut after that."""
        recipe = self.ranks.recipe
        unit = _TRANSFER * 8 // self.dtype.get_bit()
        if self.dtype.get_bit() >= 32:
            load = recipe.emit("pld.tile.remote_load", window, rank, [0, column], [1, chunk], [1, valid])
            return self.filled("recv", load)
        load = recipe.emit(
            "pld.tile.remote_load",
            window,
            rank,
            [0, column],
            [1, chunk],
            [1, _whole_units(valid, unit)],
            allow_physical_tail_padding=True,
            result_type=self._padded_type(column, chunk, unit),
        )
        loaded = recipe.let("recv_loaded", load)
        return self.filled("recv", recipe.emit("tile.set_validshape", loaded, 1, valid), "recv_tail")

    def _padded_type(self, column: ir.Var, chunk: int, unit: int) -> ir.TileType:
        """Whole units of what is left of the window, of which the last may lie behind its end."""
        rest = ir.sub(self.elements, column)
        present = ir.min_(ir.max_(ir.sub(self.elements + unit - 1, column), 0), chunk)
        view = ir.TileView([1, ir.min_(_whole_units(rest, unit), present)])
        return ir.TileType([1, chunk], self.dtype, None, view)


def _whole_units(extent: ir.Expr, unit: int) -> ir.Expr:
    return ir.mul(ir.floordiv(ir.add(extent, unit - 1), unit), unit)


class _Ring(_Reduction):
    """The window in as many segments as ranks; each round takes one segment from the rank to the left.

    In the first rounds segments are reduced on their way around, in the others the results go around. A round
    has a row of the signal, and two barriers a chunk: what is read is there, and has been read.
    """

    __slots__ = ()

    def run(self, target: ir.Expr) -> None:
        recipe, ranks = self.ranks.recipe, self.ranks
        if self.dtype != ir.DataType.FP32:
            raise recipe.error(f"the ring of {self.dtype} is not lowered yet")
        signal = ranks.signal.type
        assert isinstance(signal, ir.TensorType)
        rounds, count = (constant_extent(extent) for extent in signal.shape)
        if count is None or rounds is None:
            raise recipe.error("the signal of a ring has constant extents")
        if rounds != 2 * (count - 1):
            wanted = f"2*(NR-1) = {2 * (count - 1)} for NR = {count}"
            raise recipe.error(f"signal shape[0] ({rounds}) must equal {wanted}")
        self._run(target, rounds, count)

    def _run(self, target: ir.Expr, rounds: int, count: int) -> None:
        recipe, ranks = self.ranks.recipe, self.ranks
        own = recipe.let("my_rank_idx", ir.cast(ranks.own, ir.DataType.INDEX))
        window = self.flat(target)
        steps = recipe.let("nr_minus_one", ir.sub(ranks.count, 1))
        most = -(-self.elements // count)
        chunk = self.chunk(most)
        around = _Around(self, window, own, count, most, chunk)
        ranks.loop("rs_step", around.reduce, steps)
        ranks.loop("ag_step", lambda step: around.gather(step, steps), steps)
        chunks = ir.floordiv(ir.add(number(most), ir.sub(number(chunk), number(1))), number(chunk))
        total = recipe.let("ring_reset_total", ir.cast(ir.mul(number(2), chunks), ir.DataType.INT32))
        ranks.loop("reset_row", lambda row: ranks.reset(total, lambda rank: (row, rank)), rounds)


@dataclass(slots=True)
class _Around:
    """The rounds of a ring."""

    ring: _Ring
    window: ir.Var
    own: ir.Var
    count: int
    most: int  # elements of the longest segment
    chunk: int

    @property
    def recipe(self) -> Recipe:
        return self.ring.ranks.recipe

    def before(self, rank: ir.Expr, other: ir.Expr | int) -> ir.Expr:
        """The rank ``other`` places to the left."""
        count = self.ring.ranks.count
        return ir.mod(ir.add(ir.sub(rank, other), count), count)

    def reduce(self, step: ir.Var) -> None:
        """Add this rank's part of a segment to what the left rank has of it."""
        let = self.recipe.let
        number_of_step = let("step", ir.add(step, 1))
        segment = let("recv_add_idx", self.before(ir.sub(self.own, number_of_step), 1))
        left = let("left", self.before(self.own, 1))
        self._segment("rs", segment, lambda rank: (step, rank), left)

    def gather(self, step: ir.Var, steps: ir.Var) -> None:
        """Take a segment that is done from the left rank."""
        let = self.recipe.let
        number_of_step = let("ag_step_val", ir.add(step, 1))
        round_ = let("ag_round", ir.add(step, steps))
        segment = let("ag_segment_idx", self.before(self.own, number_of_step))
        left = let("ag_left", self.before(self.own, 1))
        self._segment("ag", segment, lambda rank: (round_, rank), left)

    def _segment(self, what: str, segment: ir.Var, cell: Cell, left: ir.Var) -> None:
        let = self.recipe.let
        begin = let(f"{what}_segment_begin", self._boundary(segment))
        end = let(f"{what}_segment_end", self._boundary(ir.add(segment, 1)))
        columns = let(f"{what}_segment_cols", ir.sub(end, begin))

        def part(column: ir.Var) -> None:
            self._part(what, cell, left, begin, columns, column)

        self.ring.ranks.span_loop(f"{what}_col", 0, self.most, self.chunk, part)

    def _boundary(self, segment: ir.Expr) -> ir.Expr:
        return ir.floordiv(ir.mul(segment, self.ring.elements), self.count)

    def _part(
        self, what: str, cell: Cell, left: ir.Var, begin: ir.Var, columns: ir.Var, column: ir.Var
    ) -> None:
        """One chunk of a segment. A segment may have fewer chunks than the longest: then nothing is moved."""
        recipe, ranks = self.recipe, self.ring.ranks
        epoch = ir.add(ir.mul(ir.floordiv(column, self.chunk), 2), 1)
        ready = recipe.let(f"{what}_ready_epoch", ir.cast(epoch, ir.DataType.INT32))
        ranks.barrier(f"_{what}_ready", ready, cell)
        is_there = ir.lt(column, columns)
        value = ranks.choice(
            is_there,
            lambda: self._moved(what, left, begin, columns, column),
            lambda: self._placeholder(what, columns, column),
        )
        read = recipe.let(f"{what}_read_epoch", ir.cast(ir.add(epoch, 1), ir.DataType.INT32))
        ranks.barrier(f"_{what}_read", read, cell)
        ranks.when(ir.lt(column, columns), lambda: self._store(what, value, begin, columns, column))

    def _valid(self, columns: ir.Var, column: ir.Var) -> ir.Expr:
        return ir.max_(1, ir.min_(self.chunk, ir.sub(columns, column)))

    def _moved(self, what: str, left: ir.Var, begin: ir.Var, columns: ir.Var, column: ir.Var) -> ir.Expr:
        recipe, valid = self.recipe, self._valid(columns, column)
        start = ir.add(begin, column)
        load = recipe.emit("pld.tile.remote_load", self.window, left, [0, start], [1, self.chunk], [1, valid])
        received = self.ring.filled(f"recv_{what}", load)
        if what != "rs":
            return received
        own = self.ring.local("acc_rs", self.window, ir.add(begin, column), self.chunk, valid)
        return recipe.let("acc_rs_next", recipe.emit(self.ring.combine, own, received))

    def _placeholder(self, what: str, columns: ir.Var, column: ir.Var) -> ir.Expr:
        name = "acc_rs_placeholder" if what == "rs" else "recv_ag_placeholder"
        return self.ring.local(name, self.window, 0, self.chunk, self._valid(columns, column))

    def _store(self, what: str, value: ir.Expr, begin: ir.Var, columns: ir.Var, column: ir.Var) -> None:
        recipe = self.recipe
        start = self._inside(ir.add(begin, column))
        end = self._inside(ir.add(start, ir.min_(self.chunk, ir.sub(columns, column))))
        name = "acc_rs_valid" if what == "rs" else "recv_ag_valid"
        cut = recipe.let(name, recipe.emit("tile.set_validshape", value, 1, ir.sub(end, start)))
        recipe.let(f"store_{what}", recipe.emit("tile.store", cut, [0, start], self.window))

    def _inside(self, place: ir.Expr) -> ir.Expr:
        """A place, or the end of the window where that comes first."""
        size = self.ring.elements
        return ir.sub(size, ir.max_(0, ir.sub(size, place)))
