"""Copies of what loops start with and bodies yield, to where the carries and results lie that it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, trailing_yield
from pypto_tmpl.ir.verifier.walking import Steps, run
from pypto_tmpl.passes.memory.fresh import Fresh
from pypto_tmpl.passes.memory.placed_tiles import are_apart, without_unused
from pypto_tmpl.passes.memory.places import Places
from pypto_tmpl.passes.memory.placing import Placing
from pypto_tmpl.rewrite import build
from pypto_tmpl.storage.places import lies_alike


@dataclass(slots=True)
class _Copy:
    """A value that is yielded, at which places of the yield, and where and as what it has to lie then."""

    at: list[int]
    value: ir.Var
    source: ir.MemRef
    goal: ir.MemRef
    form: ir.TileType


class CarryCopies:
    """The copies that a function needs before its loops and yields, given where its tiles lie.

    Carries of a loop that start in one place, and results of an if that a branch makes in one, get buffers of
    their own where they may come to differ. So do those that another part of the same allocation becomes, and
    those of which only the run tells where they would begin. Where a carry or result lies in another layout
    than a value that it becomes, the value is moved to that, through a buffer if it lies in that place.
    """

    def __init__(self, function: ir.Function, places: Places, fresh: Fresh) -> None:
        self._function = function
        self._places = places
        self._fresh = fresh
        self._before: dict[int, tuple[list[ir.Stmt], list[ir.Expr]]] = {}
        self._starts: dict[int, ir.Var] = {}
        run(self._visit(function.body))

    def applied(self) -> ir.Function:
        """The function with its places and its copies, and without allocations that no tile needs."""
        result = _Copying(self._places, self._before, self._starts).rewrite(self._function)
        return without_unused(self._fresh.allocated(result))

    def _visit(self, stmt: ir.Stmt) -> Steps:
        if isinstance(stmt, ir.AssignStmt):
            self._places.follow_operand(stmt)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self._places.follow_start(stmt)
            self._part_carries(stmt)
        for part in parts(stmt):
            yield self._visit(part)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self._copy(stmt.body, stmt.iter_args, [self._places.where(carry) for carry in stmt.iter_args])
        elif isinstance(stmt, ir.IfStmt) and stmt.return_vars:
            self._places.follow_branches(stmt)
            goals = self._parted(stmt, [self._places.where(result) for result in stmt.return_vars])
            for result, goal in zip(stmt.return_vars, goals, strict=True):
                if goal is not None:
                    self._places.put(result, goal)
            for part in parts(stmt):
                self._copy(part, stmt.return_vars, goals)

    def _part_carries(self, loop: ir.ForStmt | ir.WhileStmt) -> None:
        """Copy what a carry starts with, where it cannot lie there itself."""
        carries, end = loop.iter_args, trailing_yield(loop.body)
        sides = [[carry.initValue for carry in carries], *([] if end is None else [end.value])]
        made: list[ir.Stmt] = []
        for at, carry in enumerate(carries):
            start, place = carry.initValue, self._places.where(carry)
            around = [self._places.where(other) for other in carries]
            if place is None or not isinstance(start, ir.Var):
                continue
            if not self._is_shared(at, around, sides) and not self._slides(
                place, [side[at] for side in sides]
            ):
                continue
            buffer = self._fresh.buffer(carry, place.size_)
            made.append(copy := self._fresh.copy(start, buffer, loop))
            self._starts[id(carry)] = copy.var
            self._places.put(carry, buffer)
            self._places.put(loop.return_vars[at], buffer)
        if made:
            self._before[id(loop)] = made, []

    def _parted(self, stmt: ir.IfStmt, goals: Sequence[ir.MemRef | None]) -> list[ir.MemRef | None]:
        """These places of results, others for those that cannot lie there."""
        found = list(goals)
        sides = [end.value for part in parts(stmt) if (end := trailing_yield(part)) is not None]
        for at, (result, goal) in enumerate(zip(stmt.return_vars, goals, strict=True)):
            if goal is None:
                continue
            if self._is_shared(at, found, sides) or self._slides(goal, [side[at] for side in sides]):
                found[at] = self._fresh.buffer(result, goal.size_)
        return found

    def _is_shared(
        self, at: int, places: Sequence[ir.MemRef | None], sides: Sequence[Sequence[ir.Expr]]
    ) -> bool:
        """Whether one before lies in the place, too, and one of the sides gives it another value."""
        own = places[at]
        for other, place in enumerate(places[:at]):
            if own is None or place is None or not ir.MemRef.may_alias(own, place):
                continue
            if any(self._places.origin(side[other]) is not self._places.origin(side[at]) for side in sides):
                return True
        return False

    def _slides(self, goal: ir.MemRef, values: Sequence[ir.Expr]) -> bool:
        """Whether one of the values lies somewhere else in a place, or the run tells where."""
        for value in values:
            source = self._places.where(value)
            if source is None or source.base_ is not goal.base_:
                continue
            if self._places.floats(value) or (are_apart(source, goal) and ir.MemRef.may_alias(source, goal)):
                return True
        return False

    def _copy(self, body: ir.Stmt, targets: Sequence[ir.Var], goals: Sequence[ir.MemRef | None]) -> None:
        """Note the copies before the yield that ends a body."""
        end = trailing_yield(body)
        if end is None:
            return
        made: list[ir.Stmt] = []
        waiting: list[_Copy] = []
        for place, (value, target, goal) in enumerate(zip(end.value, targets, goals, strict=True)):
            source = self._places.where(value)
            if goal is None or source is None or not isinstance(value, ir.Var):
                continue
            form = self._fresh.forms.of(target)
            is_alike = lies_alike(self._fresh.forms.of(value), form)
            if is_alike and not are_apart(source, goal):
                continue
            same = (one for one in waiting if self._are_one(one, value, goal))
            if (one := next(same, None)) is not None:
                one.at.append(place)
                continue
            if not is_alike and ir.MemRef.may_alias(source, goal):
                source = self._fresh.buffer(value, source.size_)
                value = self._moved(value, source, made, end, form)
            waiting.append(_Copy([place], value, source, goal, form))
        if not waiting:
            return
        values = list(end.value)
        while waiting:
            copy = next((one for one in waiting if not _is_needed(one.goal, one, waiting)), None)
            if copy is None:  # a circle: one of the values waits in a buffer of its own
                copy = waiting[0]
                kept = next(one for one in waiting[1:] if ir.MemRef.may_alias(one.source, copy.goal))
                buffer = self._fresh.buffer(kept.value, kept.source.size_)
                kept.value = self._moved(kept.value, buffer, made, end)
                kept.source = self._places.plan[id(kept.value)]
                continue
            waiting.remove(copy)
            moved = self._moved(copy.value, copy.goal, made, end, copy.form)
            for place in copy.at:
                values[place] = moved
        self._before[id(end)] = made, values

    def _are_one(self, copy: _Copy, value: ir.Var, goal: ir.MemRef) -> bool:
        is_same = self._places.origin(copy.value) is self._places.origin(value)
        return is_same and ir.MemRef.may_alias(copy.goal, goal)

    def _moved(
        self,
        value: ir.Var,
        goal: ir.MemRef,
        made: list[ir.Stmt],
        at: ir.Stmt,
        form: ir.TileType | None = None,
    ) -> ir.Var:
        stmt = self._fresh.copy(value, goal, at, form)
        made.append(stmt)
        self._places.put(stmt.var, goal)
        return stmt.var


def _is_needed(goal: ir.MemRef, copy: _Copy, waiting: Sequence[_Copy]) -> bool:
    return any(one is not copy and ir.MemRef.may_alias(one.source, goal) for one in waiting)


class _Copying(Placing):
    def __init__(
        self,
        places: Places,
        before: dict[int, tuple[list[ir.Stmt], list[ir.Expr]]],
        starts: dict[int, ir.Var],
    ) -> None:
        super().__init__(places.plan)
        self._before = before
        self._starts = starts

    def before(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if id(stmt) not in self._before:
            return [stmt]
        made, values = self._before[id(stmt)]
        return [*made, build(stmt, value=tuple(values)) if isinstance(stmt, ir.YieldStmt) else stmt]

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        start, placed = self._starts.get(id(old)), super().definition(old, typed)
        return placed if start is None else build(placed, initValue=self.use(start))
