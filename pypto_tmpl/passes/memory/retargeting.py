"""Moving the values that a loop yields, and what they are made of, into the storage of its carries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.backend import get_backend_type, is_backend_configured
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.memory.lifetimes import Lifetimes, base_of
from pypto_tmpl.passes.memory.no_alias import operands_apart
from pypto_tmpl.passes.memory.views import source_place, view_storage
from pypto_tmpl.passes.structure.yields import yielded

Task: TypeAlias = "Generator[Task, bool, bool]"
_SAME_CELLS = "tile.set_validshape"
_OF_OPERAND = "first_tile"


class Retargeting:
    """The storage of the tiles of a function, and which of them move.

    An attempt that fails on its way leaves what it has moved so far, as each move by itself is meant to keep
    all values. An attempt that would have one value overwrite another that is still read is taken back.
    """

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._name = get_backend_type().name if is_backend_configured() else ""
        self._made: dict[int, tuple[ir.Stmt, int]] = {}
        self._lifetimes = Lifetimes(function)
        self._asked: set[int] = set()
        self._new: dict[int, ir.Var] = {}  # moved by the attempt that is under way
        self._on: dict[int, dict[int, ir.Var]] = defaultdict(dict)  # the tiles of each allocation
        self.moved: dict[int, ir.MemRef] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt):
                self._made[id(stmt.var)] = stmt, 0
                self._settle(stmt.var)
            elif isinstance(stmt, ir.WhileStmt):
                for var in (*stmt.iter_args, *stmt.return_vars):
                    self._settle(var)
            elif isinstance(stmt, ir.ForStmt | ir.IfStmt):
                for place, var in enumerate(stmt.return_vars):
                    self._made[id(var)] = stmt, place
                    self._settle(var)
                for arg in stmt.iter_args if isinstance(stmt, ir.ForStmt) else ():
                    self._settle(arg)

    def carry(self, loop: ir.ForStmt, place: int) -> None:
        """Move what a loop yields for one of its carries, if that is a tile with storage."""
        carry, values = loop.iter_args[place], yielded(loop.body)
        memref = self._storage(carry)
        if not isinstance(carry.type, ir.TileType) or memref is None or place >= len(values):
            return
        if (
            constant_extent(memref.byte_offset_) is None
        ):  # what is no view has no call that says where it lies
            return
        self._asked.clear()
        self._new.clear()
        stack: list[Task] = [self._move(values[place], memref, carry.type)]
        answer: bool | None = None
        while stack:
            try:
                asked = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as done:
                stack.pop()
                answer = bool(done.value)
            else:
                stack.append(asked)
                answer = None
        if self._new and self._overwrites(memref.base_, loop):
            for var in self._new.values():
                del self.moved[id(var)]
                del self._on[id(memref.base_)][id(var)]
                self._settle(var)

    def _overwrites(self, base: ir.Var, loop: ir.ForStmt) -> bool:
        """Whether a value that has just moved overwrites another that is still read, or is overwritten.

        What the loop overwrites in any case, as the carry lies where it begins with, does not count here.
        """
        end = trailing_yield(loop.body)
        assert end is not None
        stmts = [self._made[key][0] for key in self._new if key in self._made]
        extents = [self._lifetimes.extent(stmt) for stmt in (loop, *stmts)]
        first = min(start for start, _ in extents)
        last = max([stop for _, stop in extents] + [self._lifetimes.last(var) for var in self._new.values()])
        around = (v for v in self._on[id(base)].values() if self._lifetimes.lives_within(v, first, last))
        there = [var for var in around if not self._lifetimes.outlives(var, end)]
        moved = [var for var in there if id(var) in self._new]
        for var in there:
            stmt = self._made.get(id(var), (None, 0))[0]
            if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
                continue
            if source_place(stmt.value) is None:
                others = there if id(var) in self._new else moved
                if any(other is not var and self._lifetimes.outlives(other, stmt) for other in others):
                    return True
        return False

    def _settle(self, var: ir.Var) -> None:
        """Note where a tile lies."""
        if (memref := self._storage(var)) is not None:
            self._on[id(memref.base_)][id(var)] = var

    def _shift(self, var: ir.Var, target: ir.MemRef) -> None:
        memref = self._storage(var)
        if memref is not None:
            self._on[id(memref.base_)].pop(id(var), None)
        self.moved[id(var)] = target
        self._new[id(var)] = var
        self._settle(var)

    def move_views(self) -> None:
        """Views of what has moved, what ops change in place there, and views of these lie there too."""
        for stmt in statements(self._function.body):
            if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
                continue
            place = source_place(stmt.value)
            source = None if place is None else self.moved.get(id(stmt.value.args[place]))
            if source is not None and isinstance(stmt.var.type, ir.TileType):
                self.moved[id(stmt.var)] = view_storage(stmt.value, source, self._function)

    def _storage(self, value: ir.Expr) -> ir.MemRef | None:
        moved = self.moved.get(id(value))
        if moved is not None or not isinstance(value.type, ir.TileType):
            return moved
        return value.type.memref

    def _move(self, value: ir.Expr, target: ir.MemRef, type_: ir.TileType) -> Task:
        """Move a value and what has to lie where it does; False where it stays."""
        memref = self._storage(value)
        if memref is None or not isinstance(value, ir.Var):
            return False
        if memref.base_ is target.base_:
            return True
        if id(value) in self._asked:
            return False
        self._asked.add(id(value))
        if isinstance(value, ir.IterArg):
            if not (yield self._move(value.initValue, target, type_)):
                return False
        else:
            stmt, place = self._made.get(id(value), (None, 0))
            match stmt:
                case ir.AssignStmt() if isinstance(stmt.value, ir.Call):
                    if not (yield self._move_call(stmt, stmt.value, target, type_)):
                        return False
                case ir.IfStmt() if stmt.else_body is not None:
                    for body in (stmt.then_body, stmt.else_body):
                        if not (yield self._move(yielded(body)[place], target, type_)):
                            return False
                case ir.ForStmt():
                    arg = stmt.iter_args[place]
                    for part in (yielded(stmt.body)[place], arg.initValue):
                        if not (yield self._move(part, target, type_)):
                            return False
                    self._shift(arg, target)
                case _:
                    return False
        self._shift(value, target)
        return True

    def _move_call(self, stmt: ir.AssignStmt, call: ir.Call, target: ir.MemRef, type_: ir.TileType) -> Task:
        known = facts.of(call.op)
        source = source_place(call)
        if known.returned is not None and source is not None:
            return (yield self._move(call.args[source], target, type_))
        if call.op.name == _SAME_CELLS:
            return (yield self._move(call.args[0], target, type_))
        made = stmt.var.type
        if not isinstance(made, ir.TileType) or made.memory_space is not type_.memory_space:
            return False
        if known.result_memory == _OF_OPERAND:
            return False
        if any(base_of(arg) is target.base_ for arg in operands_apart(call, self._name)):
            return False
        return not self._lifetimes.later(stmt, target.base_)
