"""Calls by themselves: each is all that an assignment or an expression statement evaluates."""

from __future__ import annotations

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Names, Rewriter


class FlattenCallExpr(FunctionPass):
    """Pull calls out of what uses their value, into ``t__tmp_vN = ...`` before the statement.

    A call that is an element of a tuple stays there, and so does one that a loop starts a carry with. The
    condition of a ``while`` is evaluated in every round, so nothing can be pulled out of it: an error.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm, IRProperty.NormalizedStmtStructure})
    produces = frozenset({IRProperty.SSAForm, IRProperty.NoNestedCalls, IRProperty.NormalizedStmtStructure})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return _Flatten(function).rewrite(function)


class _Flatten(Rewriter):
    STAYS_IN = (ir.AssignStmt, ir.EvalStmt, ir.MakeTuple, ir.IterArg)

    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._names = Names.of(function)

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.WhileStmt):
            call = next((node for node in ir.walk(stmt.condition) if isinstance(node, ir.Call)), None)
            if call is not None:
                what = f"the condition of a while calls {call.op.name}, which every round has to call"
                raise PassError(what, self._owner, call)
        return stmt

    def part(self, owner: object, value: Any) -> Any:
        is_call = isinstance(value, ir.Call | ir.Submit)
        if not is_call or not isinstance(owner, ir.IRNode) or isinstance(owner, self.STAYS_IN):
            return value
        variable = ir.Var(self._names.fresh("t", "tmp"), value.type, value.span)
        self.emit(ir.AssignStmt(variable, value, value.span))
        return variable
