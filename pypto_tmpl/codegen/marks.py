"""What the lines of a script were made from: marks in its text tell, until the text is whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.codegen.formatting import LINE_LENGTH

_SIGN = "\0"  # no text of Python has it
_HEAD = "h"  # behind the number of a statement, at the line that it is known by
_MARK = re.compile("\0(\\d+)(h?)")  # a sign, a number, whether it is at a head


@dataclass(frozen=True, slots=True)
class LaunchNote:
    """What a launch asks of the run time, which the script's own text does not say.

    ``deps`` and ``dumps`` are expressions of the script: task ids (or arrays of them) to wait for, tensors
    to dump; ``no_dep`` are positions of arguments, or names for a scope, that order nothing.
    ``outputs`` are the names by which the code after a scope knows what it computed.
    """

    deps: tuple[str, ...] = ()
    dumps: tuple[str, ...] = ()
    no_dep: tuple[int | str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionMark:
    """A function of a script: its name there, what it was made from, and how many lines it has."""

    name: str
    function: ir.Function
    length: int


class Unmarked(NamedTuple):
    """A text without marks, and the statements and functions of its lines.

    ``heads`` are the lines that statements are known by, of those that they have.
    """

    text: str
    statements: Mapping[int, ir.Stmt]
    heads: Mapping[ir.Stmt, int]
    functions: Mapping[int, FunctionMark]


class Marks:
    """Numbers the statements and functions of one script, and keeps what is noted about launches.

    Notes are taken only if they are asked for: they take time.
    """

    def __init__(self, *, takes_notes: bool = False) -> None:
        self.takes_notes = takes_notes
        self.notes: dict[ir.Stmt, LaunchNote] = {}
        self._marked: list[ir.Stmt | FunctionMark] = []
        self._remarks: dict[ir.Stmt, str] = {}

    def statement(self, lines: list[str], stmt: ir.Stmt) -> list[str]:
        """Texts of a statement with a mark each, unless their first line has one already."""
        if not lines:
            return lines
        sign = self._sign(stmt)
        return [_with_sign(text, sign) for text in lines]

    def own(self, lines: list[str], stmt: ir.Stmt) -> list[str]:
        """The same, of texts that are the statement: the first of them, or that with a body, is its head."""
        if not lines:
            return lines
        sign = self._sign(stmt)
        if len(lines) == 1:
            return [_with_sign(lines[0], sign + _HEAD)]
        head = next((i for i, text in enumerate(lines) if "\n" in text), 0)
        return [_with_sign(text, sign if i != head else sign + _HEAD) for i, text in enumerate(lines)]

    def function(self, text: str, name: str, function: ir.Function) -> str:
        """The text of a function with a mark."""
        return _with_sign(text, self._sign(FunctionMark(name, function, text.count("\n") + 1)))

    def remark(self, stmt: ir.Stmt, text: str) -> None:
        """Have the line that a statement is known by end in a comment, unless it grows too long by that."""
        self._remarks[stmt] = text

    def taken_out(self, text: str) -> Unmarked:
        """The text without marks, and what they say."""
        statements: dict[int, ir.Stmt] = {}
        heads: dict[ir.Stmt, int] = {}
        functions: dict[int, FunctionMark] = {}
        end = text.find("\n", text.rfind(_SIGN))  # behind the last mark
        end = len(text) if end < 0 else end
        # Texts, and between them the numbers of marks and whether they are heads.
        parts = [*_MARK.split(text[:end]), "", "", text[end:]]
        line = 1
        for at in range(1, len(parts) - 3, 3):
            line += parts[at - 1].count("\n")
            made_from, is_head = self._marked[int(parts[at])], parts[at + 1]
            if isinstance(made_from, FunctionMark):
                functions[line] = made_from
                continue
            statements[line] = made_from
            if is_head:
                heads.setdefault(made_from, line)
                if made_from in self._remarks:
                    parts[at - 1] += self._fitting_remark(made_from, parts[at - 1])
        return Unmarked("".join(parts[::3]), statements, heads, functions)

    def _fitting_remark(self, stmt: ir.Stmt, text: str) -> str:
        """The remark on a statement behind the last line of ``text``, empty where it does not fit."""
        remark = self._remarks[stmt]
        length = len(text) - (text.rfind("\n") + 1) + len(remark)
        return remark if length <= LINE_LENGTH else ""

    def _sign(self, made_from: ir.Stmt | FunctionMark) -> str:
        self._marked.append(made_from)
        return _SIGN + str(len(self._marked) - 1)


class NoMarks(Marks):
    """Marks nothing, for those who want the text alone."""

    def statement(self, lines: list[str], stmt: ir.Stmt) -> list[str]:
        return lines

    def own(self, lines: list[str], stmt: ir.Stmt) -> list[str]:
        return lines

    def function(self, text: str, name: str, function: ir.Function) -> str:
        return text

    def taken_out(self, text: str) -> Unmarked:
        return Unmarked(text, {}, {}, {})


def _with_sign(text: str, sign: str) -> str:
    """A text with a sign at the end of its first line, if that has none and is no comment."""
    if text[:1] == "#":
        return text
    end = text.find("\n")
    if end < 0:
        return text if _SIGN in text else text + sign
    return text if _SIGN in text[:end] else text[:end] + sign + text[end:]
