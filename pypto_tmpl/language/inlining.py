"""Calls of inline functions: their bodies are read again at the place of the call (spec, 3.4)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.expressions import Operand, expression, operand
from pypto_tmpl.language.reader import InlineFunction, Reader
from pypto_tmpl.language.source import Comments

_STATEMENT_READER: list[Callable[[Reader, ast.stmt], None]] = []


def reads_statements(read: Callable[[Reader, ast.stmt], None]) -> Callable[[Reader, ast.stmt], None]:
    """Register the reader of one statement; statements hold expressions, so it cannot be imported here."""
    _STATEMENT_READER[:] = [read]
    return read


def expand(reader: Reader, node: ast.Call, function: InlineFunction) -> Operand:
    """The value that ``function`` returns for these arguments; its statements go in front of the statement.

    Its names are those of the caller, then those around its own definition; its variables stay visible.
    """
    if node.keywords:
        raise reader.error(ParserTypeError, node, f"{function.name!r} is inline and takes no keywords")
    params = [arg.arg for arg in [*function.node.args.posonlyargs, *function.node.args.args]]
    if len(params) != len(node.args):
        message = f"{function.name!r} takes {len(params)} argument(s), and {len(node.args)} are given"
        raise reader.error(ParserTypeError, node, message)
    if function in reader.expanding:
        raise reader.error(ParserTypeError, node, f"the inline function {function.name!r} calls itself")
    values = [expression(reader, argument) for argument in node.args]
    *body, last = _without_docstring(function.node.body) or [ast.Pass()]
    if not isinstance(last, ast.Return) or last.value is None:
        message = f"the inline function {function.name!r} returns no value"
        raise reader.error(ParserTypeError, node, message, "end it with a return")
    with _inside(reader, function):
        for name, value in zip(params, values, strict=True):
            reader.names.stand_for(name, value)
        for statement in body:
            if isinstance(statement, ast.Return):
                raise unsupported(reader, statement, f"a return before the end of {shown(node.func)}")
            _STATEMENT_READER[0](reader, statement)
        reader.root = last.value
        return operand(reader, last.value)


def _without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


@contextmanager
def _inside(reader: Reader, function: InlineFunction) -> Iterator[None]:
    """Read the text of ``function`` with the variables of the caller."""
    outer = reader.module, reader.comments, reader.target, reader.root, reader.pending_comments
    closure = {**function.closure, **outer[0].closure}
    reader.module = replace(outer[0], source=function.source, closure=closure, printed=False)
    reader.comments = Comments(function.source)
    reader.comments.take(function.node.body[0].lineno, -1)
    reader.target, reader.root, reader.pending_comments = "", None, []
    reader.expanding.append(function)
    try:
        yield
    finally:
        reader.expanding.pop()
        reader.module, reader.comments, reader.target, reader.root, reader.pending_comments = outer


__all__ = ["expand", "reads_statements"]
