"""Texts of the project's own templates as black formats them, which is asked about few of their statements.

The templates write as black does, but for statements that are too long for a line and for the few forms whose
layout hangs on what stands in them: powers, strings with quotes or escapes, functions inside of functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl.codegen.formatting import LINE_LENGTH, format_script

_ASKED_ABOUT = re.compile(r"\*\*|['\\]|[^\x00-\x7f]")
_ORDER = re.compile(r"#.*\b(?:fmt|yapf|type):")  # black obeys such a comment, and a kernel's may be one
_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
_CLAUSES = (ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines, from 0, to be formatted: whole statements, or what stands before the body of one."""

    lines: range
    margin: int
    is_head: bool = False


def wrapped(text: str) -> str:
    """What ``format_script`` gives for a text whose templates are all the project's own.

    Blank lines at its ends stay. Raises: FormatError for a text that is no Python.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return format_script(text)
    lines = text.split("\n")
    parts = [part for stmt in tree.body for part in _parts(stmt, lines)]
    found: dict[int, tuple[range, list[str]]] = {}
    for margin in sorted({part.margin for part in parts}):
        chosen = [part for part in parts if part.margin == margin]
        for part, new in zip(chosen, _formatted(chosen, lines, margin), strict=True):
            found[part.lines.start] = part.lines, new
    result: list[str] = []
    end = 0
    for start in sorted(found):
        old, new = found[start]
        result += [*lines[end:start], *new]
        end = old.stop
    return "\n".join([*result, *lines[end:]])


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a body, those inside of others included."""
    todo = [*body]
    while todo:
        stmt = todo.pop()
        yield stmt
        for name in _BODIES:
            for inner in getattr(stmt, name, ()):
                todo += inner.body if isinstance(inner, _CLAUSES) else [inner]


def own_lines(stmt: ast.stmt) -> range:
    """The lines of a statement, from 1; of one with a body those before the body."""
    body = getattr(stmt, "body", None)
    return range(stmt.lineno, body[0].lineno if body else (stmt.end_lineno or stmt.lineno) + 1)


def _parts(stmt: ast.stmt, lines: Sequence[str]) -> Iterator[_Part]:
    """What black may write otherwise of a statement of the module."""
    whole = range(stmt.lineno - 1, stmt.end_lineno or stmt.lineno)
    is_one = any(_ORDER.search(lines[number]) for number in whole)
    found: list[_Part] = []
    for inner in statements([stmt]):
        own = own_lines(inner)
        if any(_may_differ(lines[number - 1]) for number in own):
            found.append(_Part(range(own.start - 1, own.stop - 1), inner.col_offset, hasattr(inner, "body")))
            is_one = is_one or isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)
        is_one = is_one or inner is not stmt and isinstance(inner, ast.FunctionDef)
    yield from [_Part(whole, 0)] if is_one else found


def _may_differ(line: str) -> bool:
    return len(line) > LINE_LENGTH or _ASKED_ABOUT.search(line) is not None


def _formatted(parts: Sequence[_Part], lines: Sequence[str], margin: int) -> Iterator[list[str]]:
    """The lines of statements with a margin, as black lays out the rest of the line."""
    asked: list[str] = []
    for part in parts:
        asked += [lines[number][margin:] for number in part.lines]
        if part.is_head:
            asked.append("    pass")
    text = format_script("\n".join(asked), LINE_LENGTH - margin)
    made = text.split("\n")
    for part, stmt in zip(parts, ast.parse(text).body, strict=True):
        own = own_lines(stmt) if part.is_head else range(stmt.lineno, (stmt.end_lineno or stmt.lineno) + 1)
        yield [line and " " * margin + line for line in made[own.start - 1 : own.stop - 1]]
