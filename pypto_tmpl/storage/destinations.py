"""Programs whose statements name destinations, read as programs of assignments."""

from __future__ import annotations

from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.destinations import SLOT, has_destinations, is_declaration, written
from pypto_tmpl.ops import OpTable
from pypto_tmpl.rewrite import Rewriter, build
from pypto_tmpl.storage.places import FunctionPlaces

N = TypeVar("N", bound=ir.Program | ir.Function)


def as_assignments(node: N, table: OpTable) -> N:
    """A program in which writes and copies are assignments to their destinations, in the same order.

    A copy between the same bytes gives the value a second name, any other one moves it. A tile that nothing
    writes is created where it is declared. What names no destination stays the same object.
    """
    if not has_destinations(node):
        return node
    if isinstance(node, ir.Program):
        functions = [as_assignments(function, table) for function in node.functions.values()]
        return build(node, functions=functions)
    return _Reading(node, FunctionPlaces(node, table)).rewrite(node)


class _Reading(Rewriter):
    def __init__(self, function: ir.Function, places: FunctionPlaces) -> None:
        super().__init__()
        self._places = places
        self._written = {id(found[0]) for stmt in statements(function.body) if (found := written(stmt))}

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
        if is_declaration(stmt):
            return (
                None
                if id(stmt.var) in self._written
                else ir.AssignStmt(stmt.var, _created(stmt.var), stmt.span)
            )
        found = written(stmt)
        if found is None:
            return stmt
        destination, value = found
        if isinstance(value, ir.Var) and self._is_elsewhere(destination, value):
            value = _moved(destination, value)
        return ir.AssignStmt(destination, value, stmt.span)

    def expression(self, expr: ir.Expr) -> ir.Expr:
        return expr.args[1] if isinstance(expr, ir.Call) and expr.op.name == SLOT else expr

    def _is_elsewhere(self, destination: ir.Var, value: ir.Var) -> bool:
        place, source = self._places.of(destination), self._places.of(value)
        return place is not None and not (source is not None and source.is_there(place))


def _moved(destination: ir.Var, value: ir.Var) -> ir.Call:
    type_ = destination.type
    assert isinstance(type_, ir.TileType)
    kwargs: dict[str, object] = {"target_memory": type_.memory_space}
    return _op("tile.move", [value], kwargs, type_, value.span)


def _created(tile: ir.Var) -> ir.Call:
    type_ = tile.type
    assert isinstance(type_, ir.TileType)
    kwargs: dict[str, object] = {"dtype": type_.dtype, "target_memory": type_.memory_space}
    shape = ir.MakeTuple(type_.shape, tile.span)
    return _op("tile.create", [shape], kwargs, type_, tile.span)


def _op(
    name: str, operands: list[ir.Expr], kwargs: dict[str, object], type_: ir.TileType, span: ir.Span
) -> ir.Call:
    """The call of an op whose result has no place yet."""
    return ir.Call(ir.Op(name), operands, kwargs, build(type_, memref=None), span)
