"""Which variables some lines of a script take from before them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_BLOCKS = ("body", "orelse", "finalbody")


def names_taken(stmts: Sequence[ast.stmt], first: int, last: int) -> tuple[str, ...]:
    """Variables that the lines ``first`` to ``last`` read before they assign them, in the order of the text.

    What only one branch or a loop's body assigned may be older where it is read after that.
    """
    return tuple(dict.fromkeys(_in_lines(stmts, first, last, set())))


def _in_lines(stmts: Sequence[ast.stmt], first: int, last: int, written: set[str]) -> Iterator[str]:
    for stmt in stmts:
        if first <= stmt.lineno <= last:
            yield from _taken(stmt, written)
        elif stmt.lineno < first <= (stmt.end_lineno or stmt.lineno):
            for block in _blocks(stmt):
                yield from _in_lines(block, first, last, written)


def _taken(stmt: ast.stmt, written: set[str]) -> Iterator[str]:
    """The names that one statement takes; ``written`` gets those that it assigns for certain."""
    header = [node for node in ast.iter_child_nodes(stmt) if not isinstance(node, ast.stmt)]
    names = [node for part in header for node in ast.walk(part) if isinstance(node, ast.Name)]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    yield from (n.id for n in names if isinstance(n.ctx, ast.Load) and n.id not in written)
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name):
        yield from {stmt.target.id} - written
    assigned = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    if isinstance(stmt, ast.FunctionDef):
        assigned = {arg.arg for arg in ast.walk(stmt.args) if isinstance(arg, ast.arg)}
    blocks = _blocks(stmt)
    is_certain = not blocks or isinstance(stmt, ast.With)
    inside = written if is_certain else set(written)
    inside |= assigned
    for block in blocks:
        own = inside if is_certain else set(inside)
        for inner in block:
            yield from _taken(inner, own)


def _blocks(stmt: ast.stmt) -> list[list[ast.stmt]]:
    return [block for name in _BLOCKS if (block := getattr(stmt, name, None))]
