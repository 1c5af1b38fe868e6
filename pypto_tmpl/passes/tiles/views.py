"""Tensors in memory with other extents."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir, ops
from pypto_tmpl.ir.extents import as_extents
from pypto_tmpl.ops.typing.views import packed_strides


def packed_view(tensor: ir.Expr, shape: Sequence[int | ir.Expr], span: ir.Span) -> ir.Call:
    """The cells of a packed tensor in another shape; its type tells the strides."""
    type_ = tensor.type
    assert isinstance(type_, ir.TensorType)
    extents = as_extents(shape)
    view = ir.TensorView(packed_strides(extents), ir.TensorLayout.ND)
    if isinstance(type_, ir.DistributedTensorType):
        new: ir.TensorType = ir.DistributedTensorType(extents, type_.dtype, None, view, type_.window_buffer)
    else:
        new = ir.TensorType(extents, type_.dtype, None, view)
    return ops.call("tensor.view", tensor, ir.MakeTuple(extents, span), span=span, result_type=new)
