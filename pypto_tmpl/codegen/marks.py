"""Which source line each statement of a script was made from: comments in a copy of its text."""

from __future__ import annotations

import ast
import re
from typing import Any

from pypto_tmpl import ir

_MARK = re.compile(r"  #@(\d+)$")


class Marks:
    """Numbers the statements of one script, and keeps their spans."""

    def __init__(self, statements: Any) -> None:
        self._statements = statements
        self._spans: list[ir.Span] = []

    def mark(self, lines: list[str], span: ir.Span) -> list[str]:
        """Texts of a statement with a mark each, unless their first line has that of an inner one."""
        if not span.is_valid():
            return lines
        number = len(self._spans)
        self._spans.append(span)
        return [
            text if _MARK.search(text.partition("\n")[0]) else self._statements.marked(text, number)
            for text in lines
        ]

    def spans(self, marked: str, script: str) -> dict[int, ir.Span]:
        """The span of each line of ``script``, which is ``marked`` without marks, formatted or not.

        None at all if it is something else.
        """
        lines = marked.splitlines()
        copy, own = ast.parse(marked), ast.parse(script)
        if ast.dump(copy) != ast.dump(own):
            return {}
        found: dict[int, ir.Span] = {}
        for left, right in zip(ast.walk(copy), ast.walk(own), strict=True):
            if isinstance(left, ast.stmt) and isinstance(right, ast.stmt):
                mark = _MARK.search(lines[left.lineno - 1])
                if mark is not None:
                    found.update(dict.fromkeys(_own_lines(right), self._spans[int(mark[1])]))
        return found


def _own_lines(stmt: ast.stmt) -> range:
    """Lines of a statement, of its head only if it has a body."""
    body = getattr(stmt, "body", None)
    return range(stmt.lineno, body[0].lineno if body else (stmt.end_lineno or stmt.lineno) + 1)
