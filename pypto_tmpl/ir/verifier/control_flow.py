"""Rules on the shape of statements: blocks, jumps, scopes, loops."""

from __future__ import annotations

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.bodies import parts, statements
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
    SeqStmts,
    WhileStmt,
    YieldStmt,
)
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.walking import walk


def no_redundant_blocks(function: Function, findings: Findings) -> None:
    """A sequence has not just one child, none that is a sequence, and a yield only at its end."""
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
    stack: list[tuple[Stmt, ForStmt | WhileStmt | None]] = [(function.body, None)]
    while stack:
        stmt, loop = stack.pop()
        if isinstance(stmt, BreakStmt | ContinueStmt):
            _check_jump(stmt, loop, findings)
        inner = stmt if isinstance(stmt, ForStmt | WhileStmt) else loop
        stack.extend((part, inner) for part in reversed(parts(stmt)))


def _check_jump(stmt: BreakStmt | ContinueStmt, loop: ForStmt | WhileStmt | None, findings: Findings) -> None:
    is_continue = isinstance(stmt, ContinueStmt)
    name = "continue" if is_continue else "break"
    if loop is None:
        findings.add(306 if is_continue else 305, f"a {name} outside any loop", stmt.span)
    elif isinstance(loop, ForStmt) and loop.kind in (ForKind.Parallel, ForKind.Unroll):
        code = (303 if is_continue else 301) + (loop.kind is ForKind.Unroll)
        findings.add(code, f"a {name} in a loop of kind {loop.kind.name}", stmt.span)


def no_nested_incore(function: Function, findings: Findings) -> None:
    """An InCore scope holds no other InCore scope."""
    stack: list[tuple[Stmt, bool]] = [(function.body, False)]
    while stack:
        stmt, is_inside = stack.pop()
        if isinstance(stmt, InCoreScopeStmt):
            if is_inside:
                findings.add(501, "an InCore scope inside an InCore scope", stmt.span)
            is_inside = True
        stack.extend((part, is_inside) for part in reversed(parts(stmt)))


def pipeline_loop_valid(function: Function, findings: Findings) -> None:
    """A loop is of kind Pipeline exactly if it has the attribute pipeline_stages."""
    for stmt in statements(function.body):
        if not isinstance(stmt, ForStmt):
            continue
        has_stages = "pipeline_stages" in stmt.attrs
        if stmt.kind is ForKind.Pipeline and not has_stages:
            findings.add(0, "a loop of kind Pipeline without the attribute pipeline_stages", stmt.span)
        elif has_stages and stmt.kind is not ForKind.Pipeline:
            findings.add(1, f"the attribute pipeline_stages on a loop of kind {stmt.kind.name}", stmt.span)


def no_nested_calls(function: Function, findings: Findings) -> None:
    """No call inside call arguments, conditions, ranges or operands of scalar operators."""
    for node in walk(function.body):
        if isinstance(node, Call | Submit):
            _refuse_calls(node.args, 201, "an argument of a call", findings)
        elif isinstance(node, IfStmt):
            _refuse_calls((node.condition,), 202, "the condition of an if", findings)
        elif isinstance(node, ForStmt):
            _refuse_calls((node.start, node.stop, node.step), 203, "the range of a loop", findings)
        elif isinstance(node, BinaryExpr):
            _refuse_calls((node.left, node.right), 204, "an operand of a binary operator", findings)
        elif isinstance(node, UnaryExpr):
            _refuse_calls((node.operand,), 205, "the operand of a unary operator", findings)
        elif isinstance(node, WhileStmt):
            _refuse_calls((node.condition,), 206, "the condition of a while", findings)


def _refuse_calls(values: tuple[Expr, ...], code: int, place: str, findings: Findings) -> None:
    for value in values:
        if isinstance(value, Call | Submit):
            findings.add(code, f"{value.op.name} is called inside {place}", value.span)
