"""PyPTO's functions over IR: calls with directions, what bodies bind and yield, copies, parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir import ArgDirection
from pypto_tmpl.ir.base import FieldRole
from pypto_tmpl.ir.bodies import IN_PLACE, flat, parts, statements, trailing_yield
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.rewrite import clone, substitute

Pairs = Sequence[tuple[ir.Var, ir.Expr]]


def make_call(
    op: ir.Op,
    args: Sequence[ir.Expr],
    *,
    directions: Sequence[ArgDirection] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    type: ir.Type | None = None,
    span: ir.Span | None = None,
) -> ir.Call:
    """A call with the directions of its arguments; ValueError for another number of them."""
    if directions is not None and len(directions) != len(args):
        raise ValueError(f"{op.name}: {len(directions)} directions for {len(args)} arguments")
    attrs = None if directions is None else {"arg_directions": list(directions)}
    at = ir.Span.unknown() if span is None else span
    return ir.Call(op, args, dict(kwargs or {}), attrs, ir.UnknownType() if type is None else type, at)


def deduce_call_return_type(
    callee_params: Sequence[ir.Var], args: Sequence[ir.Expr], return_types: Sequence[ir.Type]
) -> list[ir.Type]:
    """The types that a call returns: extents that the callee knows by its parameters alone are the caller's.

    Those are scalar parameters, and variables that are an extent of a parameter. Raises ValueError for
    another number of arguments than parameters.
    """
    if len(callee_params) != len(args):
        raise ValueError(f"{len(args)} arguments for {len(callee_params)} parameters")
    values: dict[ir.Var, ir.Expr] = {}
    for param, arg in zip(callee_params, args, strict=True):
        if isinstance(param.type, ir.ScalarType):
            values[param] = arg
        elif isinstance(param.type, ir.ShapedType) and isinstance(arg.type, ir.ShapedType):
            for theirs, own in zip(param.type.shape, arg.type.shape, strict=False):
                if isinstance(theirs, ir.Var):
                    values.setdefault(theirs, own)
    return [substitute(type_, values) for type_ in return_types]


def collect_def_vars(stmt: ir.Stmt) -> list[ir.Var]:
    """The variables that a statement binds, itself or inside, each once, in the order of the text."""
    found: dict[ir.Var, None] = {}
    for part in statements(stmt):
        for spec in fields_of(part.__class__):
            if spec.role is FieldRole.DEFINITION:
                value = getattr(part, spec.name)
                found |= dict.fromkeys([value] if isinstance(value, ir.Var) else value)
    return list(found)


def find_yield_stmt(body: ir.Stmt) -> ir.YieldStmt | None:
    """The first yield of a body itself, not of loops and branches inside; None without one."""
    return next((part for part in flat(body, IN_PLACE) if isinstance(part, ir.YieldStmt)), None)


def get_last_yield_stmt(body: ir.Stmt) -> ir.YieldStmt | None:
    """The yield that a body ends in; None for a body that ends otherwise."""
    return trailing_yield(body)


def flatten_to_stmts(stmt: ir.Stmt) -> list[ir.Stmt]:
    """The statements of a sequence, those of sequences inside of it opened; or the one statement."""
    return list(flat(stmt))


def deep_clone(body: ir.Stmt, var_map: Pairs | None = None) -> tuple[ir.Stmt, list[tuple[ir.Var, ir.Var]]]:
    """A copy that binds variables of its own, and pairs of an old and its new variable.

    Variables of ``var_map``, which the body does not bind, read as their values in the copy.
    """
    copy = clone(body, substitution=dict(var_map or ()))
    return copy, list(zip(collect_def_vars(body), collect_def_vars(copy), strict=True))


def substitute_expr(expr: ir.Expr, var_map: Sequence[tuple[ir.Var, ir.Var]]) -> ir.Expr:
    """An expression that reads other variables."""
    return substitute(expr, dict(var_map))


def substitute_stmt(body: ir.Stmt, var_map: Sequence[tuple[ir.Var, ir.Var]]) -> ir.Stmt:
    """A statement that reads other variables."""
    return substitute(body, dict(var_map))


class ParentStmtAnalysis:
    """Which statement each statement of a function stands directly in."""

    def __init__(self) -> None:
        self._parents: dict[int, tuple[ir.Stmt, ir.Stmt]] = {}  # both kept alive: ids are not reused

    def build_map(self, func: ir.Function) -> None:
        """Take the statements of a function in the place of what was known."""
        self.clear()
        for stmt in statements(func.body):
            for part in parts(stmt):
                self._parents[id(part)] = (part, stmt)

    def get_parent(self, stmt: ir.Stmt) -> ir.Stmt | None:
        """The statement around another one; None for the body of the function and for a stranger."""
        found = self._parents.get(id(stmt))
        return None if found is None else found[1]

    def has_parent(self, stmt: ir.Stmt) -> bool:
        """Whether a statement stands in another one."""
        return id(stmt) in self._parents

    def clear(self) -> None:
        """Forget the function."""
        self._parents.clear()
