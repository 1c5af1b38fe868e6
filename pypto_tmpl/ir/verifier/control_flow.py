"""Rules on the shape of statements: blocks, jumps, scopes, loops."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.enums import ForKind
from pypto_tmpl.ir.expr import Call, Submit
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.stmt import (
    BreakStmt,
    ContinueStmt,
    ForStmt,
    IfStmt,
    InCoreScopeStmt,
    ScopeStmt,
    SeqStmts,
    WhileStmt,
    YieldStmt,
)
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.visitor import walk


def parts(stmt: Stmt) -> Iterator[Stmt]:
    """The statements directly inside ``stmt``."""
    if isinstance(stmt, SeqStmts):
        yield from stmt.stmts
    elif isinstance(stmt, IfStmt):
        yield stmt.then_body
        if stmt.else_body is not None:
            yield stmt.else_body
    elif isinstance(stmt, ForStmt | WhileStmt | ScopeStmt):
        yield stmt.body


def statements(stmt: Stmt) -> Iterator[Stmt]:
    """``stmt`` and every statement inside it."""
    yield stmt
    for part in parts(stmt):
        yield from statements(part)


def no_redundant_blocks(function: Function, findings: Findings) -> None:
    """A sequence has at least two children, none of them a sequence, and a yield only at its end."""
    for stmt in statements(function.body):
        if not isinstance(stmt, SeqStmts):
            continue
        if len(stmt.stmts) == 1:
            findings.add(0, "a sequence of one statement", stmt.span)
        for i, child in enumerate(stmt.stmts):
            if isinstance(child, SeqStmts):
                findings.add(0, "a sequence directly inside a sequence", child.span)
            if isinstance(child, YieldStmt) and i < len(stmt.stmts) - 1:
                findings.add(0, "a yield before the end of its block", child.span)


def break_continue_valid(function: Function, findings: Findings) -> None:
    """Jumps stand in sequential, pipeline or while loops only."""
    _check_jumps(function.body, None, findings)


def _check_jumps(stmt: Stmt, loop: ForStmt | WhileStmt | None, findings: Findings) -> None:
    if isinstance(stmt, BreakStmt | ContinueStmt):
        name, is_continue = ("continue", True) if isinstance(stmt, ContinueStmt) else ("break", False)
        if loop is None:
            findings.add(306 if is_continue else 305, f"{name} outside any loop", stmt.span)
        elif isinstance(loop, ForStmt) and loop.kind in (ForKind.Parallel, ForKind.Unroll):
            code = 301 + 2 * is_continue + (loop.kind is ForKind.Unroll)
            findings.add(code, f"{name} in a loop of kind {loop.kind.name}", stmt.span)
    inner = stmt if isinstance(stmt, ForStmt | WhileStmt) else loop
    for part in parts(stmt):
        _check_jumps(part, inner, findings)


def no_nested_incore(function: Function, findings: Findings) -> None:
    """An InCore scope holds no other InCore scope."""
    for outer in statements(function.body):
        if isinstance(outer, InCoreScopeStmt):
            for inner in statements(outer.body):
                if isinstance(inner, InCoreScopeStmt):
                    findings.add(501, "an InCore scope inside an InCore scope", inner.span)


def pipeline_loop_valid(function: Function, findings: Findings) -> None:
    """A loop is of kind Pipeline exactly if it has the attribute pipeline_stages."""
    for stmt in statements(function.body):
        if not isinstance(stmt, ForStmt):
            continue
        has_stages = "pipeline_stages" in stmt.attrs
        if stmt.kind is ForKind.Pipeline and not has_stages:
            findings.add(0, "a pipeline loop without pipeline_stages", stmt.span)
        elif has_stages and stmt.kind is not ForKind.Pipeline:
            findings.add(1, f"pipeline_stages on a loop of kind {stmt.kind.name}", stmt.span)


def no_nested_calls(function: Function, findings: Findings) -> None:
    """No call inside call arguments, conditions, ranges or operands of scalar operators."""
    for node in walk(function.body):
        if isinstance(node, Call | Submit):
            _refuse_calls(node.args, 201, "an argument of a call", findings)
        elif isinstance(node, IfStmt):
            _refuse_calls((node.condition,), 202, "an if condition", findings)
        elif isinstance(node, ForStmt):
            _refuse_calls((node.start, node.stop, node.step), 203, "a loop range", findings)
        elif isinstance(node, BinaryExpr):
            _refuse_calls((node.left, node.right), 204, "an operand of a binary operator", findings)
        elif isinstance(node, UnaryExpr):
            _refuse_calls((node.operand,), 205, "an operand of a unary operator", findings)
        elif isinstance(node, WhileStmt):
            _refuse_calls((node.condition,), 206, "a while condition", findings)


def _refuse_calls(values: tuple[Expr, ...], code: int, place: str, findings: Findings) -> None:
    for value in values:
        if isinstance(value, Call | Submit):
            findings.add(code, f"{value.op.name} is called inside {place}", value.span)
