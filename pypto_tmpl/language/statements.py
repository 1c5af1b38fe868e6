"""Statements: blocks of them, with comments and errors; the kinds of statements register themselves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.language.constants import unsupported
from pypto_tmpl.language.diagnostics import (
    ParserError,
    PassedOverError,
)
from pypto_tmpl.language.inlining import reads_statements
from pypto_tmpl.language.limits import as_parser_error
from pypto_tmpl.language.reached import is_judgement, leaves, reached
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.language.yield_calls import yields

_STATEMENTS: dict[type[ast.stmt], Callable[[Reader, Any], None]] = {}
_UNSUPPORTED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.AugAssign: ("an augmented assignment", "write x = x + y"),
    ast.Try: ("try", None),
    ast.Raise: ("raise", None),
    ast.Assert: ("assert", None),
    ast.FunctionDef: ("a nested function", None),
    ast.AsyncFunctionDef: ("an async function", None),
    ast.ClassDef: ("a nested class", None),
    ast.Import: ("an import inside a function", None),
    ast.ImportFrom: ("an import inside a function", None),
    ast.Delete: ("del", None),
    ast.Global: ("global", None),
    ast.Nonlocal: ("nonlocal", None),
    ast.Match: ("match", None),
    ast.AsyncFor: ("async for", None),
    ast.AsyncWith: ("async with", None),
}
_MOST_ERRORS = 20  # of one function


def reads(
    kind: type[ast.stmt],
) -> Callable[[Callable[[Reader, Any], None]], Callable[[Reader, Any], None]]:
    """Register a function as the reader of a kind of statement."""

    def register(function: Callable[[Reader, Any], None]) -> Callable[[Reader, Any], None]:
        _STATEMENTS[kind] = function
        return function

    return register


def block(reader: Reader, body: Sequence[ast.stmt], span: ir.Span, first: ir.Stmt | None = None) -> ir.Stmt:
    """The statements of a body: one is itself, none or several are a sequence at ``span``."""
    outer, reader.statements = reader.statements, [] if first is None else [first]
    is_whole, is_left = True, False
    try:
        for node in body:
            count = len(reader.statements)
            with reached(reader, not is_left):
                try:
                    statement(reader, node)
                except ParserError as error:
                    del reader.statements[count:]
                    if not is_judgement(reader, error):
                        is_whole = False
                        _keep(reader, error)
                    elif yields([node]):
                        raise  # so that the loop or branch around is left out, which needs the yield
                    _pass_over(reader, node)
            is_left |= not reader.module.printed and any(
                leaves(reader, made) for made in reader.statements[count:]
            )
        found = reader.statements
    finally:
        reader.statements = outer
    if not is_whole:
        raise PassedOverError("a statement of the block has an error", span)
    return found[0] if len(found) == 1 else ir.SeqStmts(found, span)


def _keep(reader: Reader, error: ParserError) -> None:
    """Keep an error for later."""
    reader.comments.silence()
    if not isinstance(error, PassedOverError) and len(reader.errors) < _MOST_ERRORS:
        reader.errors.append(error)


def _pass_over(reader: Reader, node: ast.stmt) -> None:
    """Go on without a statement and the names that it would have bound."""
    reader.pending_comments = []
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                reader.failed.add(name)


@reads_statements
def statement(reader: Reader, node: ast.stmt) -> None:
    """Read one statement into the current block, with the comments in front of it and beside it."""
    read = _STATEMENTS.get(type(node))
    if read is None:
        what, hint = _UNSUPPORTED.get(type(node), (f"a {type(node).__name__}", None))
        raise unsupported(reader, node, what, hint)
    source, count = reader.module.source, len(reader.statements)
    comments = (
        [*reader.pending_comments, *reader.comments.at(node)]
        if reader.comments.remain
        else reader.pending_comments
    )
    reader.pending_comments = []
    try:
        read(reader, node)
    except ParserError:
        raise
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise as_parser_error(source, node, error) from error
    if comments:
        _attach(reader, comments, count)


def _attach(reader: Reader, comments: list[str], count: int) -> None:
    """Give comments to the statement they stand at; one that emits nothing hands them on."""
    emitted = reader.statements[count:]
    scopes = [found for found in emitted if isinstance(found, ir.ScopeStmt)]
    if emitted:
        owner = scopes[0] if scopes else emitted[0]  # not the hidden placeholder of a scope's task id
        ir.attach_leading_comments(owner, [*comments, *owner.leading_comments])
    else:
        reader.pending_comments = [*comments, *reader.pending_comments]


def emit(reader: Reader, found: ir.Stmt) -> None:
    """Append a statement to the current block."""
    reader.statements.append(found)
