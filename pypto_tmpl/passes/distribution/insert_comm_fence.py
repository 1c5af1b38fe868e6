"""Fences around what ranks write for each other."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.distribution.host import evaluated
from pypto_tmpl.rewrite import Rewriter

_REMOTE_WRITES = ("pld.tensor.put", "pld.tile.put", "pld.tensor.remote_store", "pld.tile.remote_store")
_SIGNALS = ("pld.system.notify",)
_WAIT = "pld.system.wait"
_INVALIDATE, _FENCE = "system.cacheinvalid", "system.fence"


class InsertCommFence(FunctionPass):
    """Let writes into windows reach memory before a signal tells of them, and reads behind a wait see them.

    A write into the window of this rank leaves the cache and is fenced; one into a peer's is fenced only.
    A function that is called may have written anything. Behind a wait nothing in the cache counts.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not ir.is_incore_type(function.func_type):
            return function
        windows = (param.type for param in function.params)
        if not any(isinstance(type_, ir.DistributedTensorType) for type_ in windows):
            return function
        return _Fencing().rewrite(function)


class _Fencing(Rewriter):
    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        return [stmt, *(ir.EvalStmt(call, stmt.span) for call in _behind(evaluated(stmt), stmt.span))]


def _behind(value: ir.Expr | None, span: ir.Span) -> list[ir.Call]:
    """What to do when a value has been evaluated."""
    if not isinstance(value, ir.Call | ir.Submit):
        return []
    fence = ops.call(_FENCE, span=span)
    if isinstance(value, ir.Submit) or isinstance(value.op, ir.GlobalVar):
        return [ops.call(_INVALIDATE, span=span), fence]
    if value.op.name == _WAIT:
        return [ops.call(_INVALIDATE, span=span)]
    if value.op.name in _SIGNALS:
        return []
    written = [value.args[place] for place in facts.of(value.op).written if place < len(value.args)]
    windows = [arg for arg in written if isinstance(arg.type, ir.DistributedTensorType)]
    if not windows:
        return []
    if value.op.name in _REMOTE_WRITES:
        return [fence]
    return [*(_written_back(window, span) for window in windows), fence]


def _written_back(window: ir.Expr, span: ir.Span) -> ir.Call:
    assert isinstance(window.type, ir.TensorType)
    shape = window.type.shape
    return ops.call(_INVALIDATE, window, ir.MakeTuple(shape, span), [0] * len(shape), span=span)
