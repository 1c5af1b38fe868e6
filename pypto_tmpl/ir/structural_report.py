"""Showing a structural difference: the printed lines that it stands in."""

from __future__ import annotations

import re

from pypto_tmpl.ir.base import Expr, IRNode, Stmt, Type
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.structural import Difference, structural_diff

_STEP = re.compile(r"\.(?P<field>\w+)|\[(?P<index>\d+)\]|\['(?P<key>[^']*)'\]|^(?P<first>\w+)")


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
    """First printed line of what the difference stands in, on either side."""
    return _line(_enclosing(a, difference.path)), _line(_enclosing(b, difference.path))


def _enclosing(root: object, path: str) -> object:
    """The innermost statement on the path; without one, the innermost function, expression or root."""
    found = current = root
    for step in _STEP.finditer(path):
        current = _follow(current, step)
        if current is None:
            break
        if isinstance(current, Stmt) or (
            isinstance(current, Function | Expr) and not isinstance(found, Stmt)
        ):
            found = current
    return found


def _follow(owner: object, step: re.Match[str]) -> object:
    if step["key"] is not None:
        return owner.get_function(step["key"]) if isinstance(owner, Program) else None
    if step["index"] is not None:
        index = int(step["index"])
        return owner[index] if isinstance(owner, tuple) and index < len(owner) else None
    return getattr(owner, step["field"] or step["first"], None)


def _line(node: object) -> str:
    from pypto_tmpl.ir.printer import python_print

    if not isinstance(node, IRNode | Type):
        return repr(node)
    try:
        text = python_print(node)
    except (ValueError, TypeError, NotImplementedError):
        return repr(node)  # a part that no text stands for
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "import"))]
    return lines[0].strip() if lines else repr(node)
