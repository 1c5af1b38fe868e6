"""What expressions are made of."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir


def variables_of(expr: ir.Expr) -> Iterator[ir.Var]:
    """The variables that an expression reads."""
    todo = [expr]
    while todo:
        found = todo.pop()
        if isinstance(found, ir.Var):
            yield found
        elif isinstance(found, ir.BinaryExpr):
            todo += (found.left, found.right)
        elif isinstance(found, ir.UnaryExpr):
            todo.append(found.operand)
        elif isinstance(found, ir.MakeTuple):
            todo += found.elements
        elif isinstance(found, ir.TupleGetItemExpr):
            todo.append(found.tuple)
        elif isinstance(found, ir.Call | ir.Submit):
            todo += found.args
            for value in found.attrs.values():
                todo += (
                    [part for part in value if isinstance(part, ir.Expr)] if isinstance(value, tuple) else []
                )
                todo += [value] if isinstance(value, ir.Expr) else []
        if isinstance(found, ir.Submit):
            todo += found.deps
            todo += [part for part in (found.core_num, found.predicate) if part is not None]
