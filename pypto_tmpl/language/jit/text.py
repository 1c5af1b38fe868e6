"""The text of a generated program, and where in the user's files each of its nodes comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.language.jit.user_source import UserSource
from pypto_tmpl.language.source import Comments

_HEADER = "import pypto_tmpl.language as pl\nimport pypto_tmpl.language.distributed as pld\n"
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Method:
    """A function of the program; its nodes have the positions of the user's file."""

    definition: ast.FunctionDef
    source: UserSource


@dataclass(frozen=True, slots=True)
class ProgramText:
    """The text of a program.

    ``source_map`` gives for a line of it, and for the (line, offset) of a node, the user's file, line and
    column; ``closure`` the Python values that the text names; ``unreached`` are functions that no run calls.
    """

    name: str
    text: str
    source_map: Mapping[int | tuple[int, int], Place]
    closure: Mapping[str, Any]
    unreached: frozenset[str] = frozenset()

    @property
    def filename(self) -> str:
        return f"<jit:{self.name}>"


def program_text(
    name: str,
    methods: Sequence[Method],
    dimensions: Sequence[str],
    closure: Mapping[str, Any],
    unreached: Iterable[str] = (),
) -> ProgramText:
    """The text of the program ``_jit_<name>``."""
    parts = [_HEADER]
    parts += [f'{dimension} = pl.dynamic("{dimension}")' for dimension in dimensions]
    parts += ["" if dimensions else "", "@pl.program", f"class _jit_{name}:"]
    for method in methods:
        parts += [f"    {line}".rstrip() for line in _written(method)]
    text = "\n".join(parts) + "\n"
    return ProgramText(name, text, _source_map(text, methods), dict(closure), frozenset(unreached))


def _written(method: Method) -> list[str]:
    """The lines of a function, the comments of the user's statements above what was made of them."""
    lines = ast.unparse(method.definition).split("\n")
    pending = list(_comments(method.source))
    if not pending:
        return lines
    above: dict[int, list[str]] = {}
    for ours, theirs in _pairs(ast.parse("\n".join(lines)).body[0], method.definition):
        if not isinstance(ours, ast.stmt) or isinstance(ours, ast.FunctionDef):
            continue
        while pending and pending[0][0] <= theirs.lineno:  # type: ignore[attr-defined]
            comment = pending.pop(0)[1]
            above.setdefault(ours.lineno, []).append(f"{' ' * ours.col_offset}# {comment}")
    return [text for number, line in enumerate(lines, 1) for text in (*above.get(number, ()), line)]


def _comments(source: UserSource) -> Iterator[tuple[int, str]]:
    """Every comment of a function's body with the line of the statement that it stands at."""
    comments = Comments(source.file)
    comments.skip_signature(source.tree)
    for statement in _in_order(source.tree.body):
        for comment in comments.at(statement):
            yield statement.lineno, comment


def _in_order(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, each followed by those inside of it."""
    for statement in body:
        yield statement
        yield from _in_order(getattr(statement, "body", ()))
        yield from _in_order(getattr(statement, "orelse", ()))


def _source_map(text: str, methods: Sequence[Method]) -> dict[int | tuple[int, int], Place]:
    program = ast.parse(text).body[-1]
    assert isinstance(program, ast.ClassDef)
    found: dict[int | tuple[int, int], Place] = {}
    for written, method in zip(program.body, methods, strict=True):
        for ours, theirs in _pairs(written, method.definition):
            line, offset = ours.lineno, ours.col_offset  # type: ignore[attr-defined]
            place = _place(theirs, method.source)
            if place is None:
                continue
            found.setdefault((line, offset), place)
            if isinstance(ours, ast.stmt | ast.arg):
                found.setdefault(line, place)
    return found


def _place(node: ast.AST, source: UserSource) -> Place | None:
    if not hasattr(node, "lineno"):
        return None
    span = source.span(node)
    return span.filename, span.begin_line, span.begin_column


def _pairs(ours: ast.AST, theirs: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes of two equal trees, two by two; where they are not equal nothing is said."""
    if type(ours) is not type(theirs):
        return
    if hasattr(ours, "lineno"):
        yield ours, theirs
    for name in ours._fields:
        left, right = getattr(ours, name, None), getattr(theirs, name, None)
        if isinstance(left, ast.AST) and isinstance(right, ast.AST):
            yield from _pairs(left, right)
        elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            for one, other in zip(left, right, strict=True):
                if isinstance(one, ast.AST) and isinstance(other, ast.AST):
                    yield from _pairs(one, other)
