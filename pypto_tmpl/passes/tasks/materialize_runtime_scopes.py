"""The scopes of the run time as statements."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import FunctionType, IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build, flat

_AUTO = "auto_scope"


class MaterializeRuntimeScopes(FunctionPass):
    """Put bodies of orchestration functions, of their counted loops and of their branches into scopes.

    Nothing inside of a manual scope, which can hold no others, and no body that is a scope already. A
    function that says that it has its scopes (``auto_scope=False``) stays as it is; all say so afterwards.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch, IRProperty.CallDirectionsResolved})
    produces = frozenset({IRProperty.RuntimeScopesMaterialized})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if function.func_type is not FunctionType.Orchestration or function.attrs.get(_AUTO) is False:
            return function
        attrs = function.attrs.without(_AUTO).with_(**{_AUTO: False})
        return build(function, body=_scoped(_Scoping().rewrite(function.body)), attrs=attrs)


class _Scoping(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._in_manual: set[int] = set()

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.RuntimeScopeStmt) and stmt.manual:
            self._in_manual |= {id(inner) for inner in statements(stmt)}
        return stmt

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if id(stmt) in self._in_manual:
            return stmt
        if isinstance(stmt, ir.ForStmt):
            return build(stmt, body=_scoped(stmt.body))
        if isinstance(stmt, ir.IfStmt):
            else_body = None if stmt.else_body is None else _scoped(stmt.else_body)
            return build(stmt, then_body=_scoped(stmt.then_body), else_body=else_body)
        return stmt


def _scoped(body: ir.Stmt) -> ir.Stmt:
    found = list(flat(body))
    if len(found) == 1 and isinstance(found[0], ir.RuntimeScopeStmt) and not found[0].manual:
        return body
    return ir.RuntimeScopeStmt(body=body, span=body.span)
