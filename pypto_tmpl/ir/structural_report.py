"""Showing a structural difference: the printed lines that it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_tmpl.ir.base import IRNode, Stmt, Type
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.stmt import SeqStmts
from pypto_tmpl.ir.structural import Difference, structural_diff

_STEP = re.compile(r"\.?(?P<field>[^\W\d]\w*)|\[(?P<index>\d+)\]|\[(?P<quote>['\"])(?P<key>.*?)(?P=quote)\]")
_NOTHING = "(nothing)"


def structural_report(a: object, b: object, enable_auto_mapping: bool = False) -> str | None:
    """First difference of two nodes as text: its path and reason, and both printed lines.

    None when they are structurally equal.
    """
    difference = structural_diff(a, b, enable_auto_mapping)
    if difference is None:
        return None
    left, right = printed_lines(a, b, difference)
    return f"{difference}\n  left:  {left}\n  right: {right}"


def printed_lines(a: object, b: object, difference: Difference) -> tuple[str, str]:
    """The printed line on either side that holds the difference.

    That is the first line of the innermost statement, the line of a function's header, or the first line
    of what was compared. Of two sequences of different length it is the first statement that one of them
    has no longer.
    """
    if isinstance(difference.left, Stmt | None) and isinstance(difference.right, Stmt | None):
        return _statement_or_nothing(difference.left), _statement_or_nothing(difference.right)
    steps = list(_STEP.finditer(difference.path))
    right_steps = list(_STEP.finditer(difference.right_path or difference.path))
    left, right = list(_along(a, steps)), list(_along(b, right_steps))
    first, second = left[-1], right[-1]
    if isinstance(first, SeqStmts) and isinstance(second, SeqStmts):
        index = min(len(first), len(second))
        return _statement_line(first, index), _statement_line(second, index)
    return _line_in(left, steps), _line_in(right, steps)


def _statement_or_nothing(stmt: Stmt | None) -> str:
    return _NOTHING if stmt is None else _line(stmt)


def _statement_line(sequence: SeqStmts, index: int) -> str:
    return _line(sequence.stmts[index]) if index < len(sequence) else _NOTHING


def _along(root: object, steps: list[re.Match[str]]) -> Iterator[object]:
    """The objects on the path, as far as it leads: the root first."""
    yield root
    for step in steps:
        root = _follow(root, step)
        yield root
        if root is None:
            return


def _follow(owner: object, step: re.Match[str]) -> object:
    if step["key"] is not None:
        return owner.get_function(step["key"]) if isinstance(owner, Program) else None
    if step["index"] is not None:
        items = owner.stmts if isinstance(owner, SeqStmts) else owner
        index = int(step["index"])
        return items[index] if isinstance(items, tuple) and index < len(items) else None
    return getattr(owner, step["field"], None)


def _line_in(path: list[object], steps: list[re.Match[str]]) -> str:
    for at in range(len(path) - 1, -1, -1):
        found = path[at]
        if isinstance(found, Stmt):
            return _line(found)
        if isinstance(found, Function):
            return _header_line(found, steps[at]["field"] if at < len(steps) else "")
        if found is None and isinstance(path[at - 1], Program):
            return _NOTHING
    return _line(path[0])


def _header_line(function: Function, field: str) -> str:
    """The line of a function's text that shows the field: decorator, attributes or signature."""
    lines = _lines(function)
    if field in ("func_type", "level", "role"):
        return lines[0]
    return next((line for line in lines if _shows(line, field)), lines[0])


def _shows(line: str, field: str) -> bool:
    return ".func_attr(" in line if field == "attrs" else line.startswith("def ")


def _line(node: object) -> str:
    return _lines(node)[0]


def _lines(node: object) -> list[str]:
    """The printed lines of a node; never empty."""
    from pypto_tmpl.ir.printer import PrintError, python_print

    if not isinstance(node, IRNode | Type):
        return [repr(node)]
    try:
        text = python_print(node)
    except PrintError:
        return [repr(node)]  # a part that no text stands for
    is_code = isinstance(node, Program | Function | Stmt)
    lines = [line.strip() for line in text.splitlines()]
    code = [line for line in lines if line and not (is_code and line.startswith(("#", "import ", "from ")))]
    return code or [repr(node)]
