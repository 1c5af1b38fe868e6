"""Moving the values that a loop yields, and what they are made of, into the storage of its carries."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.op_facts import ALL
from pypto_tmpl.passes.memory.touched import Touched
from pypto_tmpl.passes.memory.views import source_place, view_storage
from pypto_tmpl.passes.structure.yields import yielded

Task: TypeAlias = "Generator[Task, bool, bool]"
_SAME_CELLS = "tile.set_validshape"
_OF_OPERAND = "first_tile"


class Retargeting:
    """The storage of the tiles of a function, and which of them move.

    An attempt that fails on its way leaves what it has moved so far: each move by itself keeps all values.
    """

    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        self._function, self._backend = function, backend
        self._made: dict[int, tuple[ir.Stmt, int]] = {}
        self._touched = Touched(function)
        self._asked: set[int] = set()
        self.moved: dict[int, ir.MemRef] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt):
                self._made[id(stmt.var)] = stmt, 0
            elif isinstance(stmt, ir.ForStmt | ir.IfStmt):
                for place, var in enumerate(stmt.return_vars):
                    self._made[id(var)] = stmt, place

    def carry(self, loop: ir.ForStmt, place: int) -> None:
        """Move what a loop yields for one of its carries, if that is a tile with storage."""
        carry, values = loop.iter_args[place], yielded(loop.body)
        memref = self._storage(carry)
        if not isinstance(carry.type, ir.TileType) or memref is None or place >= len(values):
            return
        self._asked.clear()
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

    def move_views(self) -> None:
        """Views of what has moved, and views of these, lie there too."""
        for stmt in statements(self._function.body):
            if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
                continue
            place = source_place(stmt.value)
            source = None if place is None else self.moved.get(id(stmt.value.args[place]))
            if source is not None and facts.of_value(stmt.value).view_of is not None:
                self.moved[id(stmt.var)] = view_storage(stmt.value, source, self._function)

    def _storage(self, value: ir.Expr) -> ir.MemRef | None:
        moved = self.moved.get(id(value))
        if moved is not None or not isinstance(value.type, ir.TileType):
            return moved
        return value.type.memref

    def _move(self, value: ir.Expr, target: ir.MemRef, type_: ir.TileType) -> Task:
        """Move a value and what has to lie where it does; False where it stays."""
        memref = self._storage(value)
        if memref is None or id(value) in self._asked:
            return False
        if memref.base_ is target.base_:
            return True
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
                    self.moved[id(arg)] = target
                case _:
                    return False
        self.moved[id(value)] = target
        return True

    def _move_call(self, stmt: ir.AssignStmt, call: ir.Call, target: ir.MemRef, type_: ir.TileType) -> Task:
        known = facts.of(call.op)
        source = source_place(call)
        if known.returned is not None and source is not None:
            return (yield self._move(call.args[source], target, type_))
        if call.op.name == _SAME_CELLS:
            return (yield self._move(call.args[0], target, type_))
        if known.result_memory == _OF_OPERAND or stmt.var.type.memory_space is not type_.memory_space:
            return False
        if any(self._touched.lies_on(arg, target.base_) for arg in self._apart(call)):
            return False
        return not self._touched.later(stmt, target.base_)

    def _apart(self, call: ir.Call) -> tuple[ir.Expr, ...]:
        """The operands that the result may not lie on."""
        disjoint = facts.of(call.op).disjoint
        name = "" if self._backend is None else self._backend.name
        words = disjoint.get(name, disjoint.get("", ()))
        if ALL in words:
            return call.args
        operands = load_table()[call.op.name].operand_names
        return tuple(arg for arg, operand in zip(call.args, operands, strict=False) if operand in words)
