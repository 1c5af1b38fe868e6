"""What collectives in kernels are made of: loops over the other ranks, signals, barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.passes.tiles.recipe import Recipe

Cell = Callable[[ir.Expr], Sequence["int | ir.Expr"]]
"""The signal cell of a rank."""


def number(value: int, dtype: ir.DataType = ir.DataType.INDEX) -> ir.ConstInt:
    """A constant."""
    return ir.ConstInt(value, dtype, ir.Span.unknown())


def column_cell(rank: ir.Expr) -> tuple[ir.Expr, int]:
    """The cell of a rank in a signal of one column."""
    return rank, 0


@dataclass(slots=True)
class Ranks:
    """One rank among those of a window's domain, while the statements of a collective are made.

    Signals are counters: barrier g adds 1 to the cell of this rank everywhere else and waits until its own
    cells of the others say g; at the end of a call the number of its barriers is taken off again.
    """

    recipe: Recipe
    signal: ir.Expr
    count: ir.Var = field(init=False)
    own: ir.Var = field(init=False)
    rounds: int = 0

    def enter(self, window: ir.Expr) -> None:
        """Ask how many ranks there are, and which one this is."""
        let, emit = self.recipe.let, self.recipe.emit
        context = let("ctx", emit("pld.system.get_comm_ctx", window))
        count = let("nranks", emit("pld.system.nranks", context))
        self.count = let("nranks_idx", ir.cast(count, ir.DataType.INDEX))
        self.own = let("my_rank", emit("pld.system.rank", context))

    def is_other(self, rank: ir.Expr) -> ir.Expr:
        """Whether a rank is not this one."""
        return ir.ne(rank, ir.cast(self.own, ir.DataType.INDEX))

    def loop(self, name: str, step: Callable[[ir.Var], object], stop: ir.Expr | int | None = None) -> None:
        """A loop without carries, over all ranks or up to ``stop``."""
        self.span_loop(name, 0, self.count if stop is None else stop, 1, step)

    def span_loop(
        self, name: str, start: int, stop: ir.Expr | int, stride: int, step: Callable[[ir.Var], object]
    ) -> None:
        """A loop from ``start`` in strides."""
        recipe = self.recipe
        index = ir.Var(recipe.name(name), ir.ScalarType(ir.DataType.INDEX), recipe.call.span)
        with recipe.body() as made:
            step(index)
        end = stop if isinstance(stop, ir.Expr) else number(stop)
        body = recipe.block(made)
        recipe.made.append(
            ir.ForStmt(index, number(start), end, number(stride), [], body, [], recipe.call.span)
        )

    def each_other(self, name: str, step: Callable[[ir.Var], object]) -> None:
        """A loop over the other ranks."""

        def guarded(rank: ir.Var) -> None:
            self.when(self.is_other(rank), lambda: step(rank))

        self.loop(name, guarded)

    def when(self, condition: ir.Expr, then: Callable[[], object]) -> None:
        """A branch without results."""
        recipe = self.recipe
        with recipe.body() as made:
            then()
        recipe.made.append(ir.IfStmt(condition, recipe.block(made), None, [], recipe.call.span))

    def choice(self, condition: ir.Expr, then: Callable[[], ir.Expr], other: Callable[[], ir.Expr]) -> ir.Var:
        """A branch that gives a value."""
        recipe, span = self.recipe, self.recipe.call.span
        sides: list[ir.Stmt] = []
        values: list[ir.Expr] = []
        for side in (then, other):
            with recipe.body() as made:
                values.append(side())
                made.append(ir.YieldStmt([values[-1]], span))
            sides.append(recipe.block(made))
        result = ir.Var(recipe.name("if_res"), values[0].type, span)
        recipe.made.append(ir.IfStmt(condition, sides[0], sides[1], [result], span))
        return result

    def folded(self, first: ir.Expr, step: Callable[[ir.Var, ir.Expr], ir.Expr]) -> ir.Var:
        """This rank's value combined with those of the others, in the order of ranks."""
        recipe, span = self.recipe, self.recipe.call.span
        index = ir.Var(recipe.name("peer"), ir.ScalarType(ir.DataType.INDEX), span)
        carry = ir.IterArg(recipe.name("peer_acc"), first.type, first, span)
        with recipe.body() as made:
            value = self.choice(self.is_other(index), lambda: step(index, carry), lambda: carry)
            made.append(ir.YieldStmt([value], span))
        result = ir.Var(recipe.name("peer_final"), first.type, span)
        body = recipe.block(made)
        recipe.made.append(ir.ForStmt(index, number(0), self.count, number(1), [carry], body, [result], span))
        return result

    def notify(self, what: str, peer: ir.Expr, cell: Sequence[int | ir.Expr], value: int | ir.Expr) -> None:
        """Add to a signal cell of a rank."""
        given = number(value, ir.DataType.INT32) if isinstance(value, int) else value
        call = self.recipe.emit("pld.system.notify", self.signal, peer, list(cell), given, op=0)
        self.recipe.let(what, call)

    def barrier(
        self, what: str = "", expected: int | ir.Expr | None = None, cell: Cell = column_cell
    ) -> None:
        """Tell all others, and wait for all of them. ``what`` is part of the names."""
        if expected is None:
            self.rounds += 1
            expected = self.rounds
        given = number(expected, ir.DataType.INT32) if isinstance(expected, int) else expected
        peer, source = (f"peer{what}", f"src{what}")
        self.each_other(peer, lambda rank: self.notify(f"notify{what}_ret", rank, cell(self.own), 1))

        def wait(rank: ir.Var) -> None:
            call = self.recipe.emit("pld.system.wait", self.signal, list(cell(rank)), given, cmp=1)
            self.recipe.let(f"wait{what}_ret", call)

        self.each_other(source, wait)

    def reset(self, total: ir.Expr | None = None, cell: Cell = column_cell) -> None:
        """Take what the barriers have added off the cells of this rank: the signal can be used again."""
        less: int | ir.Expr = -self.rounds if total is None else ir.neg(total)

        def take_off(rank: ir.Var) -> None:
            self.notify("epilogue_reset_ret", self.own, cell(rank), less)

        self.each_other("reset_src", take_off)
