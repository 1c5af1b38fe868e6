"""allreduce in kernels, segment by segment around a ring."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.ranks import Cell, number
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.reductions import Piece, RowReduction, as_expr


class RingReduction(RowReduction):
    """The window in as many segments as ranks; each round takes one segment from the rank to the left.

    In the first rounds segments are reduced on their way around, in the others the results go around. A round
    has a row of the signal, and two barriers a chunk: what is read is there, and has been read.
    """

    __slots__ = ()

    def run(self, target: ir.Expr) -> None:
        recipe, ranks = self.recipe, self.ranks
        signal = ranks.signal.type
        assert isinstance(signal, ir.TensorType)
        rounds, count = (constant_extent(extent) for extent in signal.shape)
        if count is None or rounds is None:
            raise recipe.error("the signal of a ring has constant extents")
        self._run(target, rounds, count)

    def _run(self, target: ir.Expr, rounds: int, count: int) -> None:
        recipe, ranks = self.recipe, self.ranks
        ranks.enter(target)
        own = recipe.let("my_rank_idx", ir.cast(ranks.own, ir.DataType.INDEX))
        window = self.row(target)
        steps = recipe.let("nr_minus_one", ir.sub(ranks.count, 1))
        most = self._longest(count)
        chunk = self.chunk(most)
        around = _Around(self, window, own, count, most, chunk)
        ranks.loop("rs_step", around.reduce, steps)
        ranks.loop("ag_step", lambda step: around.gather(step, steps), steps)
        chunks = ir.floordiv(ir.add(as_expr(most), ir.sub(number(chunk), number(1))), number(chunk))
        total = recipe.let("ring_reset_total", ir.cast(ir.mul(number(2), chunks), ir.DataType.INT32))
        ranks.loop("reset_row", lambda row: ranks.reset(total, lambda rank: (row, rank)), rounds)

    @property
    def step(self) -> int:
        """Segments begin at multiples of so many elements: narrow ones at those of a transfer."""
        return self.unit if self.dtype.get_bit() < 32 else 1

    def boundary(self, segment: ir.Expr, count: int) -> ir.Expr:
        """Where a segment begins, of as many as there are ranks."""
        before = ir.mul(segment, self.elements)
        if self.step == 1:
            return ir.floordiv(before, count)
        steps = ir.floordiv(ir.add(before, self.step * count - 1), self.step * count)
        return ir.min_(self.elements, ir.mul(steps, self.step))

    def _longest(self, count: int) -> int | ir.Expr:
        """How many elements the longest segment has at most."""
        whole = self.step * count
        if isinstance(self.elements, int):
            return min(self.elements, -(-self.elements // whole) * self.step)
        return ir.mul(ir.floordiv(ir.add(self.elements, whole - 1), whole), self.step)


@dataclass(slots=True)
class _Around:
    """The rounds of a ring."""

    ring: RingReduction
    window: ir.Var
    own: ir.Var
    count: int
    most: int | ir.Expr  # elements of the longest segment
    chunk: int

    @property
    def recipe(self) -> Recipe:
        return self.ring.recipe

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
        begin = let(f"{what}_segment_begin", self.ring.boundary(segment, self.count))
        end = let(f"{what}_segment_end", self.ring.boundary(ir.add(segment, 1), self.count))
        columns = let(f"{what}_segment_cols", ir.sub(end, begin))

        def part(column: ir.Var) -> None:
            self._part(what, cell, left, begin, columns, column)

        self.ring.ranks.span_loop(f"{what}_col", 0, self.most, self.chunk, part)

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
        piece = Piece([0, start], [1, self.chunk], [1, valid])
        received = self.ring.received(f"recv_{what}", self.window, left, piece, self.ring.elements, valid)
        if what != "rs":
            return received
        own = self.ring.local("acc_rs", self.window, piece)
        return recipe.let("acc_rs_next", recipe.emit(self.ring.combine, own, received))

    def _placeholder(self, what: str, columns: ir.Var, column: ir.Var) -> ir.Expr:
        name = "acc_rs_placeholder" if what == "rs" else "recv_ag_placeholder"
        piece = Piece([0, 0], [1, self.chunk], [1, self._valid(columns, column)])
        return self.ring.local(name, self.window, piece)

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
