"""Casts that no single instruction does become several."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.tiles.cast_routes import cast_route
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.rewrite import Rewriter, build

_CAST = "tile.cast"


class LegalizeTileCast(FunctionPass):
    """Make every cast of tiles one that the backend has an instruction for; each has the mode of the whole.

    Without a backend casts stay as they are.
    """

    __slots__ = ()

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if context.backend is None or function.level is ir.Level.HOST:
            return function
        return _Legalize(function, context.backend).rewrite(function)


class _Legalize(Rewriter):
    def __init__(self, function: ir.Function, backend: BackendFacts) -> None:
        super().__init__()
        self._owner = function
        self._backend = backend
        self._numbers = count()

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | Iterable[ir.Stmt]:
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
            return stmt
        call = stmt.value
        if call.op.name != _CAST:
            return stmt
        (value,) = call.args
        assert isinstance(value.type, ir.TileType)
        source, target = value.type.dtype, call.kwargs["target_type"]
        if self._backend.is_native_cast(source, target):
            return stmt
        placed = build(call, span=stmt.span)  # all casts stand where the statement does
        recipe = Recipe(self._owner, stmt, placed, stmt.var.name_hint, self._numbers)
        route = cast_route(self._backend, source, target)
        if route is None:
            what = f"no instructions of {self._backend.name} convert {source} to {target}"
            raise recipe.error(f"{what} without loss on the way")
        mode = call.kwargs["mode"]
        for station in route[:-1]:
            cast = recipe.emit("tile.cast", value, target_type=station, mode=mode)
            value = recipe.let(f"cast_{station}", cast)
        return [
            *recipe.made,
            build(stmt, value=recipe.emit("tile.cast", value, target_type=target, mode=mode)),
        ]
