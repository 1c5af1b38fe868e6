"""Rewriting that gives variables other types: results of loops and branches follow."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.rewrite import Rewriter, build
from pypto_tmpl.rewrite.rewriter import Task


class CarriedTypes(Rewriter):
    """Carries have the types of their initial values, results those of carries or of what is yielded."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._typed_like: dict[int, ir.Expr] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                self._note(stmt.return_vars, stmt.iter_args)
            elif isinstance(stmt, ir.IfStmt):
                self._note(stmt.return_vars, yielded(stmt.then_body))

    def _note(self, results: tuple[ir.Var, ...], sources: tuple[ir.Expr, ...]) -> None:
        self._typed_like |= {id(var): source for var, source in zip(results, sources, strict=False)}

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var):
            return self._renamed(stmt)
        return None

    def _renamed(self, stmt: ir.AssignStmt) -> Task:
        value = yield stmt.value
        var = build(stmt.var, type=value.type) if value is not stmt.value else stmt.var
        self.bind(stmt.var, var)
        return [build(stmt, var=var, value=value)]

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if isinstance(typed, ir.IterArg):
            return build(typed, type=typed.initValue.type) if _is_tile(typed.initValue) else typed
        source = self._typed_like.get(id(old))
        if source is None:
            return typed
        known = self.bound(source) if isinstance(source, ir.Var) else None
        found = source if known is None else known
        return build(typed, type=found.type) if _is_tile(found) else typed


def _is_tile(value: ir.Expr) -> bool:
    return isinstance(value.type, ir.TileType)
