"""Where the tiles of a function are to lie, while that is being decided."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import structural_equal
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.memory.lifespans import Group
from pypto_tmpl.passes.memory.placed_tiles import place_of
from pypto_tmpl.passes.memory.views import begins_at_run_time, source_place, view_storage


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
        """Move the tiles of an allocation into that of another one, at the distances that they have.

        The first one takes the other's place; which objects the places are does not count, since files do not
        tell.
        """
        goal, origin = first.members[0].memref, group.members[0].memref
        for member in group.members:
            old = member.memref
            start, begin, to = old.byte_offset_, origin.byte_offset_, goal.byte_offset_
            is_known = all(isinstance(offset, ir.ConstInt) for offset in (start, begin, to))
            if member is group.members[0] or not is_known:
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
        if source is None or own is None:
            return
        shown = view_storage(value, source, self.function)
        # A view that came here without its tile, which came another way, has lost its distance from that.
        if own.base_ is not source.base_ or not structural_equal(own.byte_offset_, shown.byte_offset_):
            self.put(stmt.var, shown)

    def follow_branches(self, stmt: ir.IfStmt) -> None:
        """The results of an if lie where the first branch makes them that does not hand on a carry."""
        yields = [found for part in parts(stmt) if (found := trailing_yield(part)) is not None]
        for at, result in enumerate(stmt.return_vars):
            made = [end.value[at] for end in yields if not isinstance(end.value[at], ir.IterArg)]
            memref = next((place for value in made if (place := self.where(value)) is not None), None)
            if memref is not None:
                self.put(result, memref)

    def floats(self, value: ir.Expr) -> bool:
        """Whether only the run tells where a tile begins, as a window or in a slot of a declared buffer.

        Nothing but the call that makes the tile says it then: a carry or a result cannot lie there.
        """
        while (place := self.where(value := self.origin(value))) is not None:
            stmt = self._defined.get(id(value))
            call = None if stmt is None else stmt.value
            if constant_extent(place.byte_offset_) is None:
                return True
            if not isinstance(call, ir.Call) or (at := source_place(call)) is None:
                return False
            if begins_at_run_time(call):
                return True
            value = call.args[at]
        return False

    def origin(self, value: ir.Expr) -> ir.Expr:
        """What a value is a second name of; itself where it is none."""
        while (stmt := self._defined.get(id(value))) is not None and isinstance(stmt.value, ir.Var):
            value = stmt.value
        return value
