"""What is computed for nothing."""

from __future__ import annotations

from collections import Counter

from pypto_tmpl import ir
from pypto_tmpl.passes.structure.yields import with_yield, yielded
from pypto_tmpl.rewrite import Rewriter, build


def without_dead_scalars(function: ir.Function) -> ir.Function:
    """A function without results of branches that nothing reads, and without scalars that nothing reads.

    What a call computes stays, and so do the ids of tasks.
    """
    while True:
        cleaned = _Clean(function).rewrite(function)
        if cleaned is function:
            return function
        function = cleaned


class _Clean(Rewriter):
    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._reads: Counter[int] = Counter()
        for node in ir.walk(function):
            self._reads.update(id(part) for part in ir.children(node) if isinstance(part, ir.Var))
            bound = [getattr(node, "var", None), *getattr(node, "return_vars", ())]
            self._reads.subtract(id(var) for var in bound if var is not None)

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
        if isinstance(stmt, ir.AssignStmt) and not self._reads[id(stmt.var)] and _is_free(stmt):
            return None
        if isinstance(stmt, ir.IfStmt) and any(not self._reads[id(var)] for var in stmt.return_vars):
            return self._narrowed(stmt)
        return stmt

    def _narrowed(self, stmt: ir.IfStmt) -> ir.Stmt:
        kept = [place for place, var in enumerate(stmt.return_vars) if self._reads[id(var)]]
        sides = []
        for side in (stmt.then_body, stmt.else_body or ir.SeqStmts([], stmt.span)):
            values = yielded(side)
            sides.append(with_yield(side, [values[place] for place in kept]))
        results = [stmt.return_vars[place] for place in kept]
        return build(stmt, then_body=sides[0], else_body=sides[1], return_vars=results)


def _is_free(stmt: ir.AssignStmt) -> bool:
    type_ = stmt.var.type
    if not isinstance(type_, ir.ScalarType) or type_.dtype == ir.DataType.TASK_ID:
        return False
    return not any(isinstance(node, ir.Call | ir.Submit) for node in ir.walk(stmt.value))
