"""Copies of popped tiles that are needed longer than the slots of the pipe in which they lie."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.cores.frees import held_too_long, shown
from pypto_tmpl.passes.cores.kernel import evaluated_call
from pypto_tmpl.rewrite import Names, Rewriter, build


def with_copies(function: ir.Function) -> ir.Function:
    """The function with copies of popped tiles that loops start with, bodies yield, or others pass by.

    The slot that a tile lies in is given back at the end of the body at the latest, and neither a carry nor a
    result can lie in it: they are other tiles in other rounds and branches. Slots are given back in the order
    in which their tiles were popped: a tile that is read after a later one was given back is copied at once.
    """
    held = held_too_long(function)
    popped = _popped(function, held)
    return _Copying(function, popped, held).rewrite(function) if popped or held else function


def _popped(function: ir.Function, held: set[int]) -> set[int]:
    """The other tiles (ids) that lie in slots of a pipe: what was popped, other names of it, and views."""
    found: set[int] = set()
    for stmt in statements(function.body):
        if not isinstance(stmt, ir.AssignStmt):
            continue
        is_popped = facts.of_value(evaluated_call(stmt)).pipe_end == "pop"
        if id(stmt.var) in held:
            continue
        if is_popped or any(id(value) in found for value in shown(stmt.value)):
            found.add(id(stmt.var))
    return found


class _Copying(Rewriter):
    def __init__(self, function: ir.Function, popped: set[int], held: set[int]) -> None:
        super().__init__()
        self._names = Names.of(function)
        self._popped, self._held = popped, held
        self._starts: dict[int, ir.Var] = {}

    def before(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        made: list[ir.Stmt] = []
        if isinstance(stmt, ir.YieldStmt):
            values = [self._copied(value, made) for value in stmt.value]
            return [*made, build(stmt, value=tuple(values))] if made else [stmt]
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for carry in stmt.iter_args:
                start = self._copied(carry.initValue, made)
                if isinstance(start, ir.Var) and start is not carry.initValue:
                    self._starts[id(carry)] = start
        return [*made, stmt]

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if not isinstance(stmt, ir.AssignStmt) or id(stmt.var) not in self._held:
            return stmt
        copy = self._copy(stmt.var)
        self.bind(stmt.var, copy.var)
        return [stmt, copy]

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        start = self._starts.get(id(old))
        return typed if start is None else build(typed, initValue=self.use(start))

    def _copied(self, value: ir.Expr, made: list[ir.Stmt]) -> ir.Expr:
        if id(value) not in self._popped or not isinstance(value, ir.Var):
            return value
        made.append(copy := self._copy(value))
        return copy.var

    def _copy(self, tile: ir.Var) -> ir.AssignStmt:
        assert isinstance(tile.type, ir.TileType)
        space = tile.type.memory_space
        call = ops.call("tile.move", tile, target_memory=space, result_type=tile.type, span=tile.span)
        copy = ir.Var(self._names.unique(f"{tile.name_hint}_mv"), tile.type, tile.span)
        return ir.AssignStmt(copy, call, tile.span)
