"""Copies of popped tiles that loops and branches hand on, made before their slots are given back."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.cores.frees import shown
from pypto_tmpl.passes.cores.kernel import evaluated_call
from pypto_tmpl.rewrite import Names, Rewriter, build


def with_copies(function: ir.Function) -> ir.Function:
    """The function with a copy of each popped tile that a loop starts with, or that a body yields.

    The slot that a tile lies in is given back at the end of the body at the latest, and neither a carry nor a
    result can lie in it: they are other tiles in other rounds and branches.
    """
    popped = _popped(function)
    return _Copying(function, popped).rewrite(function) if popped else function


def _popped(function: ir.Function) -> set[int]:
    """The tiles (ids) that lie in slots of a pipe: what was popped, other names of it, and views."""
    found: set[int] = set()
    for stmt in statements(function.body):
        if not isinstance(stmt, ir.AssignStmt):
            continue
        is_popped = facts.of_value(evaluated_call(stmt)).pipe_end == "pop"
        if is_popped or any(id(value) in found for value in shown(stmt.value)):
            found.add(id(stmt.var))
    return found


class _Copying(Rewriter):
    def __init__(self, function: ir.Function, popped: set[int]) -> None:
        super().__init__()
        self._names = Names.of(function)
        self._popped = popped
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

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        start = self._starts.get(id(old))
        return typed if start is None else build(typed, initValue=self.use(start))

    def _copied(self, value: ir.Expr, made: list[ir.Stmt]) -> ir.Expr:
        if id(value) not in self._popped or not isinstance(value, ir.Var):
            return value
        assert isinstance(value.type, ir.TileType)
        space = value.type.memory_space
        call = ops.call("tile.move", value, target_memory=space, result_type=value.type, span=value.span)
        copy = ir.Var(self._names.unique(f"{value.name_hint}_mv"), value.type, value.span)
        made.append(ir.AssignStmt(copy, call, value.span))
        return copy
