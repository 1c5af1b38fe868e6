"""Lists of statements, and the body that such a list is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_tmpl import ir


def flat(body: ir.Stmt | Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a body, or of several, in order; sequences within sequences are opened."""
    todo = [body] if isinstance(body, ir.Stmt) else list(body)[::-1]
    while todo:
        found = todo.pop()
        if isinstance(found, ir.SeqStmts):
            todo += reversed(found.stmts)
        else:
            yield found


def as_body(statements: Iterable[ir.Stmt], span: ir.Span) -> ir.Stmt:
    """The statements as one: a single one by itself, else a flat sequence, which may be empty."""
    found = list(flat(list(statements)))
    return found[0] if len(found) == 1 else ir.SeqStmts(found, span)
