"""Extents of shapes: plain integers as constants, and the weak equality that constructors use."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.span import Span


def as_extent(value: int | Expr) -> Expr:
    """``value`` as an expression; an int becomes an INDEX constant."""
    from pypto_tmpl.ir.expr import ConstInt

    if isinstance(value, int) and not isinstance(value, bool):
        return ConstInt(value, DataType.INDEX, Span.unknown())
    if not isinstance(value, Expr):
        raise TypeError(f"an extent must be int or Expr, got {type(value).__name__}")
    return value


def as_extents(values: Sequence[int | Expr]) -> tuple[Expr, ...]:
    return tuple(as_extent(value) for value in values)


def constant_extent(extent: Expr) -> int | None:
    """The value of a constant extent, None for any other expression."""
    from pypto_tmpl.ir.expr import ConstInt

    return extent.value if isinstance(extent, ConstInt) else None


def same_extent(a: Expr, b: Expr) -> bool:
    """Weak equality of extents (spec: IR, 12.4): constants by value, binaries and op calls by parts."""
    from pypto_tmpl.ir.expr import Call, ConstInt
    from pypto_tmpl.ir.scalar_ops import BinaryExpr

    if a is b:
        return True
    if isinstance(a, ConstInt) and isinstance(b, ConstInt):
        return a.value == b.value
    if type(a) is not type(b):
        return False
    if isinstance(a, BinaryExpr) and isinstance(b, BinaryExpr):
        return same_extent(a.left, b.left) and same_extent(a.right, b.right)
    if isinstance(a, Call) and isinstance(b, Call):
        return a.op.name == b.op.name and same_extents(a.args, b.args)
    return False


def same_extents(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return len(a) == len(b) and all(same_extent(x, y) for x, y in zip(a, b, strict=True))
