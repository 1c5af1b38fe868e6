"""Calls of a function, each of which is all that a statement evaluates (NoNestedCalls)."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import evaluated, statements


def call_of(stmt: ir.Stmt) -> ir.Call | None:
    """The call that a statement is, or assigns the value of."""
    value = evaluated(stmt)
    return value if isinstance(value, ir.Call) else None


def launch_of(stmt: ir.Stmt) -> ir.Call | ir.Submit | None:
    """The call or submit of a function that a statement is, or assigns the value of."""
    value = evaluated(stmt)
    if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
        return value
    return None


def launches(function: ir.Function) -> Iterator[ir.Call | ir.Submit]:
    """The calls and submits of functions."""
    return (call for stmt in statements(function.body) if (call := launch_of(stmt)) is not None)
