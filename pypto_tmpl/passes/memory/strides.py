"""Sums and products of extents with constants folded, and the strides that are made of them."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir import TensorLayout
from pypto_tmpl.ir.extents import constant_extent


def packed(shape: Sequence[ir.Expr], layout: TensorLayout = TensorLayout.ND) -> tuple[ir.Expr, ...]:
    """The strides of a packed tensor; in DN the last two axes have changed places."""
    order = list(range(len(shape)))
    if layout is TensorLayout.DN:
        order[-2:] = reversed(order[-2:])
    found: dict[int, ir.Expr] = {}
    step: ir.Expr = index(1)
    for axis in reversed(order):
        found[axis] = step
        step = product(step, shape[axis])
    return tuple(found[axis] for axis in range(len(shape)))


def index(value: int) -> ir.ConstInt:
    """A constant of dtype INDEX."""
    return ir.ConstInt(value, ir.DataType.INDEX, ir.Span.unknown())


def total(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """``a + b``; adding nothing gives the other part."""
    left, right = constant_extent(a), constant_extent(b)
    if left is not None and right is not None:
        return index(left + right)
    if left == 0:
        return b
    return a if right == 0 else ir.Add(a, b, ir.DataType.INDEX, ir.Span.unknown())


def product(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """``a * b``; multiplying by 0 or 1 is no product."""
    left, right = constant_extent(a), constant_extent(b)
    if left is not None and right is not None:
        return index(left * right)
    if 0 in (left, right):
        return index(0)
    if left == 1:
        return b
    return a if right == 1 else ir.Mul(a, b, ir.DataType.INDEX, ir.Span.unknown())
