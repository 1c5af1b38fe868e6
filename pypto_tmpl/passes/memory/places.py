"""Where the tiles of a function are to lie, while that is being decided."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import own_expressions, used_variables
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.memory.lifespans import Group
from pypto_tmpl.passes.memory.placed_tiles import place_of, space_of
from pypto_tmpl.passes.memory.views import source_place, view_storage


class Places:
    """The places of tiles by variable (id), starting from what the types say."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.plan: dict[int, ir.MemRef] = {}
        self._defined: dict[int, ir.AssignStmt] = {
            id(stmt.var): stmt for stmt in statements(function.body) if isinstance(stmt, ir.AssignStmt)
        }

    def where(self, value: ir.Expr) -> ir.MemRef | None:
        """Where a tile lies."""
        return self.plan.get(id(value)) or place_of(value)

    def put(self, var: ir.Var, memref: ir.MemRef) -> None:
        """From now on a tile lies there."""
        self.plan[id(var)] = memref

    def join(self, group: Group, first: Group) -> None:
        """Move the tiles of an allocation into that of another one, at the distances that they have."""
        goal, origin = first.members[0].memref, group.members[0].memref
        for member in group.members:
            old = member.memref
            start, begin, to = old.byte_offset_, origin.byte_offset_, goal.byte_offset_
            is_known = all(isinstance(offset, ir.ConstInt) for offset in (start, begin, to))
            if old is origin or not is_known:
                self.put(member.var, goal)
                continue
            assert (
                isinstance(start, ir.ConstInt)
                and isinstance(begin, ir.ConstInt)
                and isinstance(to, ir.ConstInt)
            )
            if start.value == begin.value and old.size_ == goal.size_:
                self.put(member.var, goal)
                continue
            offset = ir.ConstInt(to.value + start.value - begin.value, ir.DataType.INDEX, old.span)
            self.put(member.var, ir.MemRef(goal.base_, offset, old.size_, span=old.span))

    def follow_carries(self) -> None:
        """All loops do so, the outer ones first."""
        for stmt in statements(self.function.body):
            if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                self.follow_start(stmt)

    def follow_start(self, loop: ir.ForStmt | ir.WhileStmt) -> None:
        """The carries of a loop, and its results, lie where what they start with does."""
        for carry, result in zip(loop.iter_args, loop.return_vars, strict=True):
            memref = self.where(carry.initValue)
            if memref is not None:
                self.put(carry, memref)
                self.put(result, memref)

    def follow_operand(self, stmt: ir.AssignStmt) -> None:
        """A second name of a tile, a view of it, and what an op leaves in it lie where the tile does."""
        value = stmt.value
        if not isinstance(value, ir.Call):
            if (memref := self.where(value)) is not None:
                self.put(stmt.var, memref)
            return
        at, own = source_place(value), self.where(stmt.var)
        source = None if at is None else self.where(value.args[at])
        if source is not None and own is not None and own.base_ is not source.base_:
            self.put(stmt.var, view_storage(value, source, self.function))

    def origin(self, value: ir.Expr) -> ir.Expr:
        """What a value is a second name of; itself where it is none."""
        while (stmt := self._defined.get(id(value))) is not None and isinstance(stmt.value, ir.Var):
            value = stmt.value
        return value

    def join_accumulators(self) -> None:
        """An accumulator that one branch begins anew lies where the other branch goes on with the old one."""
        for stmt in statements(self.function.body):
            if not isinstance(stmt, ir.IfStmt) or stmt.else_body is None:
                continue
            bodies = (stmt.then_body, stmt.else_body)
            for own, other in (bodies, bodies[::-1]):
                for fresh, kept in _yielded_pairs(own, other):
                    self._join_accumulator(fresh, kept, own)

    def _join_accumulator(self, fresh: ir.Expr, kept: ir.Expr, body: ir.Stmt) -> None:
        begun, gone_on = self._defined.get(id(fresh)), self._defined.get(id(kept))
        if begun is None or gone_on is None or self.where(fresh) is None:
            return
        goal = self.where(kept)
        if goal is None or space_of(fresh) is not ir.MemorySpace.Acc:
            return
        if facts.of_value(gone_on.value).returned is None or facts.of_value(begun.value).returned is not None:
            return
        behind = False
        for stmt in statements(body):
            if behind and any(
                _is_in(self.where(var), goal) for var in used_variables(*own_expressions(stmt))
            ):
                return
            behind = behind or stmt is begun
        if behind:
            self.put(begun.var, goal)


def _is_in(place: ir.MemRef | None, goal: ir.MemRef) -> bool:
    return place is not None and place.base_ is goal.base_


def _yielded_pairs(own: ir.Stmt, other: ir.Stmt) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    one, two = trailing_yield(own), trailing_yield(other)
    if one is not None and two is not None:
        yield from zip(one.value, two.value, strict=True)
