"""Bodies: lists of statements, what stands inside a statement, and what a body ends in.

Nothing here needs a Python stack, however deep the program is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.stmt import (
    AssignStmt,
    EvalStmt,
    ForStmt,
    IfStmt,
    ReturnStmt,
    RuntimeScopeStmt,
    ScopeStmt,
    SeqStmts,
    SplitAivScopeStmt,
    WhileStmt,
    YieldStmt,
)

Scopes: TypeAlias = tuple[type[ScopeStmt], ...]

# Classes of statements without others inside, which are most; subclasses are told the long way.
_SIMPLE = frozenset({AssignStmt, EvalStmt, ReturnStmt, YieldStmt})

IN_PLACE: Scopes = (RuntimeScopeStmt, SplitAivScopeStmt)  # a yield in one is that of the body around it


def flat(body: Stmt | Iterable[Stmt], through: Scopes = ()) -> Iterator[Stmt]:
    """The statements of a body, or of several, in order.

    Sequences within sequences are opened, and so are scopes of the classes ``through``.
    """
    todo = [body] if isinstance(body, Stmt) else list(body)[::-1]
    while todo:
        found = todo.pop()
        if type(found) in _SIMPLE:
            yield found
        elif isinstance(found, SeqStmts):
            todo += reversed(found.stmts)
        elif isinstance(found, through):
            todo.append(found.body)
        else:
            yield found


def direct(body: Stmt) -> tuple[Stmt, ...]:
    """The statements that stand in a body as it is written: of a sequence its own, or the one."""
    return body.stmts if isinstance(body, SeqStmts) else (body,)


def as_body(statements: Iterable[Stmt], span: Span) -> Stmt:
    """The statements as one: a single one by itself, else a flat sequence, which may be empty."""
    found = list(flat(list(statements)))
    return found[0] if len(found) == 1 else SeqStmts(found, span)


def evaluated(stmt: Stmt) -> Expr | None:
    """What an assignment or an expression statement evaluates."""
    if isinstance(stmt, AssignStmt):
        return stmt.value
    return stmt.expr if isinstance(stmt, EvalStmt) else None


def last_of(body: Stmt, through: Scopes = ()) -> Stmt | None:
    """What a body ends in, None for an empty one; scopes of the classes ``through`` are opened."""
    last: Stmt | None = body
    while isinstance(last, SeqStmts | ScopeStmt):
        if isinstance(last, SeqStmts):
            last = last.stmts[-1] if last.stmts else None
        elif isinstance(last, through):
            last = last.body
        else:
            break
    return last


def trailing_yield(body: Stmt) -> YieldStmt | None:
    """The yield that ends a body, perhaps in a scope that is in place."""
    last = last_of(body, IN_PLACE)
    return last if isinstance(last, YieldStmt) else None


def parts(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside of a statement."""
    if type(stmt) in _SIMPLE:
        return ()
    if isinstance(stmt, SeqStmts):
        return stmt.stmts
    if isinstance(stmt, IfStmt):
        return (stmt.then_body,) if stmt.else_body is None else (stmt.then_body, stmt.else_body)
    return (stmt.body,) if isinstance(stmt, ForStmt | WhileStmt | ScopeStmt) else ()


def statements(root: Stmt) -> Iterator[Stmt]:
    """A statement and every one inside of it, in the order of the text."""
    stack = [root]
    while stack:
        stmt = stack.pop()
        yield stmt
        stack.extend(reversed(parts(stmt)))
