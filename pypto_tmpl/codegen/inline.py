"""Foreign statements that a program carries as source text."""

from __future__ import annotations

import ast
import textwrap

from pypto_tmpl import ir


def inline_source(stmt: ir.InlineStmt) -> tuple[str, str | None]:
    """The statement's source, unindented, and what is wrong with it, if anything is."""
    if stmt.language.name != "Python":
        return "", f"an inline statement in {stmt.language.name}"
    source = textwrap.dedent(stmt.body.replace("\r\n", "\n")).strip("\n").rstrip()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        return "", f"an inline statement that is no Python: {error}"
    if any(_spans_lines(node) for node in ast.walk(tree)):
        return "", "an inline statement with a string over several lines, which indenting would change"
    return source, None


def _spans_lines(node: ast.AST) -> bool:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return isinstance(node, ast.Constant | ast.JoinedStr) and (
        (is_text or isinstance(node, ast.JoinedStr)) and node.lineno != node.end_lineno
    )
