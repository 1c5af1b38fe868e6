"""What bodies yield."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.rewrite import as_body, build, flat


def with_yielded(body: ir.Stmt, values: Sequence[ir.Expr]) -> ir.Stmt:
    """A body that also yields ``values``, after what it yields itself.

    The yield of a body that ends in a run-time scope or a region of two lanes stands inside of that.
    """
    if not values:
        return body
    around: list[tuple[list[ir.Stmt], ir.ScopeStmt]] = []
    found = list(flat(body))
    while found and isinstance(scope := found[-1], ir.RuntimeScopeStmt | ir.SplitAivScopeStmt):
        around.append((found[:-1], scope))
        found = list(flat(scope.body))
    if found and isinstance(last := found[-1], ir.YieldStmt):
        found[-1] = build(last, value=(*last.value, *values))
    else:
        found.append(ir.YieldStmt(values, body.span))
    for before, outer in reversed(around):
        found = [*before, build(outer, body=as_body(found, outer.body.span))]
    return as_body(found, body.span)


def without_empty_yield(body: ir.Stmt) -> ir.Stmt:
    """A body without a yield of nothing at its end."""
    found = list(flat(body))
    if not found or not isinstance(last := found[-1], ir.YieldStmt) or last.value:
        return body
    return as_body(found[:-1], body.span)
