"""Bodies in one form: a single statement, or a flat sequence of several."""

from __future__ import annotations

from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, as_body, build


class NormalizeStmtStructure(FunctionPass):
    """Open sequences inside of sequences, and sequences of one statement."""

    __slots__ = ()
    produces = frozenset({IRProperty.NormalizedStmtStructure})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return _Normalize().rewrite(function)


def with_normal_bodies(program: ir.Program) -> ir.Program:
    """A program whose bodies have that form."""
    return _Normalize().rewrite(program)


class _Normalize(Rewriter):
    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        return map_bodies(stmt, normalized)

    def function(self, function: ir.Function) -> ir.Function:
        return build(function, body=normalized(function.body))


def map_bodies(stmt: ir.Stmt, change: Callable[[ir.Stmt], ir.Stmt]) -> ir.Stmt:
    """A statement with other bodies of its own."""
    bodies = {name: getattr(stmt, name, None) for name in ("body", "then_body", "else_body")}
    changes = {name: change(body) for name, body in bodies.items() if isinstance(body, ir.Stmt)}
    return build(stmt, **changes) if changes else stmt


def normalized(body: ir.Stmt) -> ir.Stmt:
    """A body in that form; itself where it has it."""
    if not isinstance(body, ir.SeqStmts):
        return body
    is_flat = not any(isinstance(stmt, ir.SeqStmts) for stmt in body.stmts)
    return body if is_flat and len(body.stmts) != 1 else as_body([body], body.span)
