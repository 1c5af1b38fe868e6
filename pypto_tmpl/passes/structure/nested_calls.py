"""Calls of some functions by themselves: each is all that its statement evaluates."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.verifier.walking import evaluated, own_expressions
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.rewrite import Rewriter, build


def with_calls_alone(function: ir.Function, called: Collection[str], numbers: Iterator[int]) -> ir.Function:
    """The function with the calls of those named ``called`` in statements of their own.

    All other calls that such a statement evaluates are pulled out as well, so that they stay in order. Raises
    PassError for one in the condition of a ``while``, which every round has to call.
    """
    return _Pulling(function, called, numbers).rewrite(function)


class _Pulling(Rewriter):
    def __init__(self, owner: ir.Function, called: Collection[str], numbers: Iterator[int]) -> None:
        super().__init__()
        self._owner = owner
        self._called = called
        self._numbers = numbers
        self._pulls = False

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        """What a statement evaluates itself is rewritten before what is inside of it."""
        whole = whole_value(stmt)
        inner = (node for node in evaluated(*own_expressions(stmt)) if node is not whole)
        self._pulls = any(map(self._is_call, inner))
        if isinstance(stmt, ir.WhileStmt):
            kept = [node for node in evaluated(stmt.condition) if isinstance(node, ir.Call)]
            call = next((node for node in kept if self._pulls or self._is_call(node)), None)
            if call is not None:
                what = f"the condition of a while calls {call.op.name}, which every round has to call"
                raise PassError(what, self._owner, call)
        return stmt

    def part(self, owner: object, value: Any) -> Any:
        is_whole = isinstance(owner, ir.Stmt) and whole_value(owner) is not None
        return value if is_whole or not isinstance(owner, ir.IRNode) else self._pulled(value)

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if isinstance(typed, ir.IterArg):
            return build(typed, initValue=self._pulled(typed.initValue))
        return typed

    def _pulled(self, value: Any) -> Any:
        if not self._pulls or not isinstance(value, ir.Call | ir.Submit):
            return value
        name = value.op.name if self._is_call(value) else "t"
        variable = ir.Var(f"{name}_inline{next(self._numbers)}", value.type, value.span)
        self.emit(ir.AssignStmt(variable, value, value.span))
        return variable

    def _is_call(self, node: object) -> bool:
        if not isinstance(node, ir.Call | ir.Submit):
            return False
        return isinstance(node.op, ir.GlobalVar) and node.op.name in self._called


def whole_value(stmt: ir.Stmt) -> ir.Expr | None:
    """What a statement evaluates, where that is one expression."""
    if isinstance(stmt, ir.AssignStmt):
        return stmt.value
    if isinstance(stmt, ir.EvalStmt):
        return stmt.expr
    return stmt.value[0] if isinstance(stmt, ir.ReturnStmt) and len(stmt.value) == 1 else None
