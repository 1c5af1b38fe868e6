"""Strides: views of tensors say how far apart their elements lie."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty, TensorLayout
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.strides import packed
from pypto_tmpl.rewrite import Rewriter, build


class MaterializeTensorStrides(FunctionPass):
    """Give views of tensors that have no strides those of a packed tensor in their layout.

    A tensor without a view stays without one. The order of elements in NZ is no matter of strides: an error.
    """

    __slots__ = ()
    requires = frozenset(
        {
            IRProperty.SSAForm,
            IRProperty.SplitIncoreOrch,
            IRProperty.IncoreTileOps,
            IRProperty.TileOps2D,
            IRProperty.TileMemoryInferred,
            IRProperty.NormalizedStmtStructure,
        }
    )
    produces = requires | {IRProperty.TensorViewCanonical}

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return _Strides(function).rewrite(function)


class _Strides(Rewriter):
    opens_sequences = False

    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._at: ir.IRNode = function

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        self._at = stmt
        return stmt

    def type(self, type_: ir.Type) -> ir.Type:
        if not isinstance(type_, ir.TensorType) or type_.tensor_view is None:
            return type_
        view = type_.tensor_view
        if view.layout is TensorLayout.NZ:
            raise PassError(f"a tensor in NZ has no strides: {type_}", self._owner, self._at)
        if view.stride:
            return type_
        if view.layout is TensorLayout.DN and len(type_.shape) < 2:
            raise PassError(f"a tensor in DN has two axes or more: {type_}", self._owner, self._at)
        return build(type_, tensor_view=build(view, stride=packed(type_.shape, view.layout)))
