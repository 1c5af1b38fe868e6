"""Functions return the parameters that they have written, in the order of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir import FunctionType, IRProperty, ParamDirection
from pypto_tmpl.ir.bodies import last_of, statements
from pypto_tmpl.ir.walking import children
from pypto_tmpl.ops.returned_parameters import (
    ReturnedParameters,
    Versions,
    first_return,
    returned_values,
)
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat
from pypto_tmpl.rewrite.rewriter import Task

_WRAPPERS = (FunctionType.Group, FunctionType.Spmd)
T = TypeVar("T")

Order = tuple[int, ...]
"""For each result the place that it moves to."""


class NormalizeReturnOrder(ProgramPass):
    """Return parameters themselves instead of later versions of them, in the order of the parameters.

    Kernels, groups and launches of blocks return parameters. The results of kernels are brought into order;
    what takes an element of them at a call follows. Results that somebody uses as a tuple stay as they are.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch, IRProperty.IncoreTileOps})
    produces = frozenset({IRProperty.ReturnParamsExplicit})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        returned = ReturnedParameters(program.functions.values())
        functions = [_with_parameters(function, returned) for function in program.functions.values()]
        taken_whole = _taken_whole(functions)
        orders = {
            function.name: order
            for function in functions
            if function.name not in taken_whole and (order := _order(function)) is not None
        }
        if orders:
            functions = [_Following(orders).rewrite(_ordered(function, orders)) for function in functions]
        return build(program, functions=functions)


def _with_parameters(function: ir.Function, returned: ReturnedParameters) -> ir.Function:
    """A function whose first return gives parameters instead of versions of them."""
    stmt = first_return(function)
    if stmt is None or not (ir.is_incore_type(function.func_type) or function.func_type in _WRAPPERS):
        return function
    new = build(stmt, value=returned_values(stmt, Versions(function, returned)))
    return function if new is stmt else _Returning(stmt, new).rewrite(function)


class _Returning(Rewriter):
    def __init__(self, old: ir.ReturnStmt, new: ir.ReturnStmt) -> None:
        super().__init__()
        self._old = old
        self._new = new

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        return self._new if stmt is self._old else stmt


def _order(function: ir.Function) -> Order | None:
    """Where the results of a kernel move, None where they are in order or have none."""
    last = last_of(function.body)
    if not ir.is_incore_type(function.func_type) or not isinstance(last, ir.ReturnStmt):
        return None
    written = [
        id(param)
        for param, direction in zip(function.params, function.param_directions, strict=True)
        if direction is not ParamDirection.In
    ]
    order = tuple(
        written.index(id(value)) if id(value) in written else place for place, value in enumerate(last.value)
    )
    identity = tuple(range(len(order)))
    is_order = len(written) <= len(order) and tuple(sorted(order)) == identity
    return order if is_order and order != identity else None


def _ordered(function: ir.Function, orders: Mapping[str, Order]) -> ir.Function:
    order = orders.get(function.name)
    last = last_of(function.body)
    if order is None or not isinstance(last, ir.ReturnStmt):
        return function
    body = [*list(flat(function.body))[:-1], build(last, value=_moved(last.value, order))]
    return build(
        function,
        body=as_body(body, function.body.span),
        return_types=_moved(function.return_types, order) if function.return_types else (),
    )


def _moved(values: Sequence[T], order: Order) -> list[T]:
    """Values where they belong; those behind what the order is of, such as the id of a task, stay there."""
    found = list(values)
    for place, target in enumerate(order):
        found[target] = values[place]
    return found


def _taken_whole(functions: list[ir.Function]) -> set[str]:
    """The functions whose results somebody uses as a tuple: where its elements are read cannot be told."""
    found: set[str] = set()
    for function in functions:
        names = {
            id(stmt.var): stmt.value.op.name
            for stmt in statements(function.body)
            if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call | ir.Submit)
        }
        for node in ir.walk(function.body):
            if isinstance(node, ir.TupleGetItemExpr | ir.AssignStmt | ir.EvalStmt):
                continue
            for child in children(node):
                if isinstance(child, ir.Call | ir.Submit):
                    found.add(child.op.name)
                elif id(child) in names:
                    found.add(names[id(child)])
    return found


class _Following(Rewriter):
    """Takes the elements of results from where they are now."""

    def __init__(self, orders: Mapping[str, Order]) -> None:
        super().__init__()
        self._orders = orders
        self._results: dict[int, Order] = {}

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call | ir.Submit):
            order = self._orders.get(stmt.value.op.name)
            if order is not None and isinstance(stmt.value.op, ir.GlobalVar):
                return self._called(stmt, order)
        return None

    def _called(self, stmt: ir.AssignStmt, order: Order) -> Task:
        call = yield stmt.value
        type_ = call.type
        if isinstance(type_, ir.TupleType):
            type_ = ir.TupleType(_moved(type_.types, order))
        var = build(stmt.var, type=type_)
        self._results[id(var)] = order
        self.bind(stmt.var, var)
        return [build(stmt, var=var, value=build(call, type=type_))]

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.TupleGetItemExpr):
            order = self._results.get(id(expr.tuple), ())
            if expr.index < len(order):
                return build(expr, index=order[expr.index])
        return expr
