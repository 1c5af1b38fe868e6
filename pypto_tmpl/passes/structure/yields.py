"""What bodies yield."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import trailing_yield
from pypto_tmpl.rewrite import as_body, build, flat


def with_yielded(body: ir.Stmt, values: Sequence[ir.Expr], owner: ir.Stmt) -> ir.Stmt:
    """A body that also yields ``values``, after what it yields itself; the yield stands where ``owner`` does.

    The yield of a body that ends in a run-time scope or a region of two lanes stands inside of that.
    """
    return with_yield(body, (*yielded(body), *values), owner.span) if values else body


def yielded(body: ir.Stmt) -> tuple[ir.Expr, ...]:
    """What a body yields; nothing where it does not end in a yield."""
    last = trailing_yield(body)
    return last.value if last is not None else ()


def results(stmt: ir.Stmt) -> Iterator[tuple[tuple[ir.Var, ...], tuple[ir.Expr, ...]]]:
    """The variables of a loop or branch that hold one value after another, and what they get."""
    if isinstance(stmt, ir.IfStmt):
        sides = [yielded(side) for side in (stmt.then_body, stmt.else_body) if side is not None]
        for place, var in enumerate(stmt.return_vars):
            yield (var,), tuple(values[place] for values in sides if values)
    elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
        values = yielded(stmt.body)
        for place, (arg, var) in enumerate(zip(stmt.iter_args, stmt.return_vars, strict=True)):
            yield (arg, var), (arg.initValue, *values[place : place + 1])


def with_yield(body: ir.Stmt, values: Sequence[ir.Expr], span: ir.Span | None = None) -> ir.Stmt:
    """A body that yields ``values`` instead of what it yields; one that yields nothing has no yield.

    ``span`` is that of the yield, by default that of the body.
    """
    span = body.span if span is None else span
    around: list[tuple[list[ir.Stmt], ir.ScopeStmt]] = []
    found = list(flat(body))
    while found and isinstance(scope := found[-1], ir.RuntimeScopeStmt | ir.SplitAivScopeStmt):
        around.append((found[:-1], scope))
        found = list(flat(scope.body))
    if found and isinstance(found[-1], ir.YieldStmt):
        del found[-1]
    if values:
        found.append(ir.YieldStmt(values, span))
    for before, outer in reversed(around):
        found = [*before, build(outer, body=as_body(found, outer.body.span))]
    return as_body(found, span)


def without_empty_yield(body: ir.Stmt) -> ir.Stmt:
    """A body without a yield of nothing at its end."""
    last = trailing_yield(body)
    return with_yield(body, ()) if last is not None and not last.value else body
