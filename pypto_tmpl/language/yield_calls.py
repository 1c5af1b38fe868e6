"""Which statements yield, told by their text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pypto_tmpl.language.constants import attribute_name


def is_yield(node: ast.expr) -> bool:
    """Whether an expression is ``pl.yield_(...)``."""
    return isinstance(node, ast.Call) and attribute_name(node.func) == "yield_"


def yields(body: Sequence[ast.stmt]) -> bool:
    """Whether a body yields, itself or in a scope that it opens."""
    return yield_target(body) is not None


def yield_target(body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The statement that yields in a body."""
    for node in reversed(body):
        match node:
            case ast.AnnAssign(value=ast.Call() as value) | ast.Assign(value=ast.Call() as value):
                if is_yield(value):
                    return node
            case ast.Expr(value=ast.Call() as value):
                if is_yield(value):
                    return node
            case (
                ast.With(body=inner)
                | ast.For(iter=ast.Call(func=ast.Attribute(attr="split_aiv")), body=inner)
            ):
                if (found := yield_target(inner)) is not None:
                    return found
    return None
