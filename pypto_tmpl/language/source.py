"""Source text with its syntax tree: positions of nodes, and the comments that Python's parser drops."""

from __future__ import annotations

import ast
import linecache
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pypto_tmpl.ir import Span

_STRING_OR_COMMENT = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|#(?P<text>.*)""")


SourceMap: TypeAlias = "Mapping[int | tuple[int, int], tuple[str, int, int]]"
"""File, line and column (from 1) behind a line of a generated text, or behind (line, column from 0) there."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its ``#``: where it starts, from column 0, and whether code stands before it."""

    line: int
    column: int
    text: str
    follows_code: bool


class Source:
    """One text: its name, its lines and its tree."""

    def __init__(
        self,
        filename: str,
        text: str,
        tree: ast.Module,
        lines: list[str],
        source_map: SourceMap | None = None,
    ) -> None:
        self.filename = filename
        self.text = text
        self.tree = tree
        self.lines = lines
        self._source_map = source_map
        self.is_ascii = text.isascii()
        self._columns: dict[int, list[int]] = {}

    def span(self, node: ast.AST) -> Span:
        """Where ``node`` begins, or what its line comes from; columns count characters from 1."""
        line: int = node.lineno  # type: ignore[attr-defined]
        column: int = node.col_offset  # type: ignore[attr-defined]
        if self._source_map is not None:
            origin = self._source_map.get((line, column)) or self._source_map.get(line)
            if origin is not None:
                return Span(*origin)
        return Span(self.filename, line, (column if self.is_ascii else self._characters(line, column)) + 1)

    def lines_of(self, span: Span) -> Sequence[str]:
        """The lines of the file that ``span`` lies in: of this text, or of what it was made from."""
        if span.filename == self.filename:
            return self.lines
        return [line.rstrip("\n") for line in linecache.getlines(span.filename)]

    def _characters(self, line: int, offset: int) -> int:
        """Number of characters in the first ``offset`` bytes of a line."""
        if line not in self._columns:
            text = self.lines[line - 1]
            self._columns[line] = [] if text.isascii() else _characters_at_bytes(text)
        found = self._columns[line]
        return found[offset] if offset < len(found) else offset

    @cached_property
    def comments(self) -> list[Comment]:
        """Every comment in the order of the text, except those on the lines of a multi-line string."""
        if "#" not in self.text:
            return []
        inside = self._lines_in_strings() if '"""' in self.text or "'''" in self.text else set()
        found = []
        for number, line in enumerate(self.lines, 1):
            if "#" not in line or number in inside:
                continue
            for match in _STRING_OR_COMMENT.finditer(line):
                if match["text"] is not None:
                    start, text = match.start(), match["text"].removeprefix(" ").rstrip()
                    found.append(Comment(number, start, text, bool(line[:start].strip())))
        return found

    def _lines_in_strings(self) -> set[int]:
        lines: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                end = node.end_lineno or node.lineno
                lines.update(range(node.lineno, end + 1) if end > node.lineno else ())
        return lines


class Comments:
    """The comments of a source in their order, each of which is taken once."""

    def __init__(self, source: Source, warns: bool = False) -> None:
        self._comments = source.comments
        self._filename = source.filename
        self._warns = warns  # of comments that no statement carries
        self._next = 0

    @property
    def remain(self) -> bool:
        """Whether there are comments that nothing has taken yet."""
        return self._next < len(self._comments)

    def take(self, before_line: int, column: int | None = None) -> list[str]:
        """The comments before a line that nothing has taken yet.

        Those right of ``column`` are left out: they close a block that has ended. One behind an ``else:``
        is the first of its block.
        """
        found = []
        while self._next < len(self._comments):
            comment = self._comments[self._next]
            if comment.line >= before_line:
                break
            self._next += 1
            if column is None or comment.column <= column or comment.follows_code:
                found.append(comment.text)
            elif self._warns:
                self._warn(comment)
        return found

    def at(self, node: ast.stmt) -> list[str]:
        """Comments above a statement, on the header of a compound one, on the lines of a simple one."""
        match node:
            case ast.For(iter=header) | ast.If(test=header) | ast.While(test=header):
                last = header.end_lineno
            case ast.With(items=items):
                last = items[-1].context_expr.end_lineno
            case _:
                last = node.end_lineno
        above = self.take(node.lineno, node.col_offset)
        return above + self.take((last or node.lineno) + 1)

    def skip_signature(self, node: ast.FunctionDef) -> None:
        """Leave out the comments before a body: the file's header, those on the signature."""
        parts = [node.returns, *node.args.posonlyargs, *node.args.args]
        lines = [part.end_lineno or 0 for part in parts if part is not None]
        self.take(max(node.lineno, *lines, 0) + 1)

    def silence(self) -> None:
        """Warn of nothing from now on: statements that have an error carry no comments."""
        self._warns = False

    def drop(self, last_line: int) -> None:
        """Warn of the comments up to a line: nothing follows that could carry them."""
        while self.remain and self._comments[self._next].line <= last_line:
            if self._warns:
                self._warn(self._comments[self._next])
            self._next += 1

    def _warn(self, comment: Comment) -> None:
        message = f"no statement follows the comment {comment.text!r}, which is dropped"
        warnings.warn_explicit(message, UserWarning, self._filename, comment.line)


def _characters_at_bytes(text: str) -> list[int]:
    """For each byte of the UTF-8 text the index of its character, and the length at the end."""
    found: list[int] = []
    for index, character in enumerate(text):
        found += [index] * len(character.encode("utf-8", "surrogatepass"))
    return [*found, len(text)]
