"""Variables that a run shall dump, of calls that are no launches any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.rewrite import Rewriter, build

_SCOPES = (ir.InCoreScopeStmt, ir.HierarchyScopeStmt, ir.SpmdScopeStmt)  # those with the keyword ``dumps``
_Launch = TypeVar("_Launch", bound=ir.Stmt | ir.Call | ir.Submit)


class Dumping(Rewriter):
    """Puts variables among the ``dump_vars`` of the scopes and calls of functions that use them.

    ``unused`` are those that nothing used so far.
    """

    def __init__(self, dumped: Iterable[ir.Var]) -> None:
        super().__init__()
        self._dumped = list(dumped)
        self.unused = list(self._dumped)

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        return self._with_dumps(stmt, stmt.attrs, [stmt.body]) if isinstance(stmt, _SCOPES) else stmt

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.Call | ir.Submit) and isinstance(expr.op, ir.GlobalVar):
            return self._with_dumps(expr, expr.attrs, expr.args)
        return expr

    def _with_dumps(self, launch: _Launch, attrs: ir.AttrMap, parts: Iterable[ir.IRNode]) -> _Launch:
        used = {id(node) for part in parts for node in ir.walk(part) if isinstance(node, ir.Var)}
        own = [var for var in self._dumped if id(var) in used]
        if not own:
            return launch
        self.unused = [var for var in self.unused if id(var) not in used]
        before: tuple[ir.Var, ...] = attrs.get("dump_vars", ())
        added = [var for var in own if all(var is not other for other in before)]
        return build(launch, attrs=attrs.with_(dump_vars=(*before, *added)))
