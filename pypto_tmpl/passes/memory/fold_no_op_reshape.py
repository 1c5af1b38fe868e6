"""Reshapes that change nothing."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.types import layout_of
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_RESHAPE = "tile.reshape"


class FoldNoOpReshape(FunctionPass):
    """Make ``y = tile.reshape(x, shape)`` in kernels ``y = x`` where both are one buffer, read in one way."""

    __slots__ = ()
    requires = frozenset(
        {
            IRProperty.SplitIncoreOrch,
            IRProperty.IncoreTileOps,
            IRProperty.HasMemRefs,
            IRProperty.TileOps2D,
        }
    )

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return _Fold().rewrite(function) if ir.is_incore_type(function.func_type) else function


class _Fold(Rewriter):
    opens_sequences = False

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
            return stmt
        call = stmt.value
        if call.op.name != _RESHAPE or len(call.args) != 2 or not isinstance(call.args[0], ir.Var):
            return stmt
        is_same = _is_one_buffer(call.args[0].type, stmt.var.type)
        return build(stmt, value=call.args[0]) if is_same else stmt


def _is_one_buffer(source: ir.Type, result: ir.Type) -> bool:
    if not isinstance(source, ir.TileType) or not isinstance(result, ir.TileType):
        return False
    if source.memref is None or result.memref is None or source.memref.base_ is not result.memref.base_:
        return False
    return _signature(source) == _signature(result)


def _signature(type_: ir.TileType) -> tuple[object, ...]:
    """How the buffer is read; valid extents that are not constant count as one."""
    view = type_.get_effective_tile_view()
    extents = tuple(map(constant_extent, (*type_.shape, *view.valid_shape)))
    return type_.memory_space, type_.dtype, len(type_.shape), extents, layout_of(view)
