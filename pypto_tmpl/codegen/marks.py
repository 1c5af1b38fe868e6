"""What each statement of a script was made from: comments in a copy of its text tell."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from pypto_tmpl import ir

_MARK = re.compile(r"  #@(\d+)$")


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


class Marks:
    """Numbers the statements of one script, and keeps them with what is noted about their launches."""

    def __init__(self, statements: Any) -> None:
        self._texts = statements
        self._statements: list[ir.Stmt] = []
        self._notes: dict[int, LaunchNote] = {}

    def mark(self, lines: list[str], stmt: ir.Stmt) -> list[str]:
        """Texts of a statement with a mark each, unless their first line has that of an inner one."""
        number = len(self._statements)
        self._statements.append(stmt)
        return [
            text if _MARK.search(text.partition("\n")[0]) else self._texts.marked(text, number)
            for text in lines
        ]

    def note(self, stmt: ir.Stmt, note: LaunchNote) -> None:
        """Keep what the launch that a statement or scope is asks for."""
        self._notes[id(stmt)] = note

    def note_of(self, stmt: ir.Stmt) -> LaunchNote:
        """What was noted about a statement; nothing is asked for where nothing was."""
        return self._notes.get(id(stmt), LaunchNote())

    def statements(self, marked: str, script: str) -> dict[int, ir.Stmt]:
        """The statement of each line of ``script``, which is ``marked`` without marks, formatted or not.

        None at all if it is something else.
        """
        lines = marked.splitlines()
        copy, own = ast.parse(marked), ast.parse(script)
        if ast.dump(copy) != ast.dump(own):
            return {}
        found: dict[int, ir.Stmt] = {}
        for left, right in zip(ast.walk(copy), ast.walk(own), strict=True):
            if isinstance(left, ast.stmt) and isinstance(right, ast.stmt):
                mark = _MARK.search(lines[left.lineno - 1])
                if mark is not None:
                    found.update(dict.fromkeys(_own_lines(right), self._statements[int(mark[1])]))
        return found


def _own_lines(stmt: ast.stmt) -> range:
    """Lines of a statement, of its head only if it has a body."""
    body = getattr(stmt, "body", None)
    return range(stmt.lineno, body[0].lineno if body else (stmt.end_lineno or stmt.lineno) + 1)
