"""Scales of block-scaled products lie at the addresses that belong to the data they scale."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty, MemorySpace
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_SCALES = (MemorySpace.LeftScale, MemorySpace.RightScale)
_BIND = "tile.tget_scale_addr"
_BASE = frozenset(
    {
        IRProperty.SSAForm,
        IRProperty.IncoreTileOps,
        IRProperty.SplitIncoreOrch,
        IRProperty.NormalizedStmtStructure,
        IRProperty.TileMemoryInferred,
    }
)


class InsertMxScaleAddr(FunctionPass):
    """Bind the scales of each block-scaled product of a kernel to the operands before them.

    A backend without memories of scales does not have these products: an error.
    """

    __slots__ = ()
    requires = _BASE
    produces = _BASE

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if function.func_type is not ir.FunctionType.InCore:
            return function
        return _Binding(function, context).rewrite(function)


class _Binding(Rewriter):
    def __init__(self, function: ir.Function, context: PassContext) -> None:
        super().__init__()
        self._owner = function
        self._backend = context.backend
        self._bound: set[int] = set()

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
            return [stmt]
        call, made = stmt.value, list[ir.Stmt]()
        if call.op.name == _BIND:
            self._bound.add(id(stmt.var))
        args = list(call.args)
        for place in _scale_places(call):
            self._check_backend(call, args[place])
            scale = args[place]
            if isinstance(scale, ir.Var) and id(scale) not in self._bound:
                bind = ops.call(_BIND, scale, args[place - 1], span=call.span)
                bound = ir.Var(f"{scale.name_hint}_bound", bind.type, call.span)
                made.append(ir.AssignStmt(bound, bind, call.span))
                args[place] = bound
        return [*made, build(stmt, value=build(call, args=args))]

    def _check_backend(self, call: ir.Call, scale: ir.Expr) -> None:
        backend = self._backend
        if backend is not None and any(backend.layout(space) is None for space in _SCALES):
            what = (
                f"the backend {backend.name} has no memory for scales, so that it cannot multiply with them"
            )
            raise PassError(f"{call.op.name}: {what}", self._owner, call, scale)


def _scale_places(call: ir.Call) -> Iterator[int]:
    """Where the scales stand among the operands, each behind what it scales."""
    for place, spaces in enumerate(facts.of_value(call).operand_memory[: len(call.args)]):
        if spaces and spaces[0] in _SCALES:
            yield place
