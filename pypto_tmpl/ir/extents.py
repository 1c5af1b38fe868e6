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
    todo = [(a, b)]
    seen: set[tuple[int, int]] = set()  # what both sides share is compared once, however often it is used
    while todo:
        x, y = todo.pop()
        if x is y or (id(x), id(y)) in seen:
            continue
        seen.add((id(x), id(y)))
        parts = _pairs_to_compare(x, y)
        if parts is None:
            return False
        todo += parts
    return True


def _pairs_to_compare(a: Expr, b: Expr) -> list[tuple[Expr, Expr]] | None:
    """The parts that must be equal for ``a`` and ``b`` to be; None when they differ anyway."""
    from pypto_tmpl.ir.expr import Call, ConstInt
    from pypto_tmpl.ir.scalar_ops import BinaryExpr

    if isinstance(a, ConstInt) and isinstance(b, ConstInt):
        return [] if a.value == b.value else None
    if type(a) is not type(b):
        return None
    if isinstance(a, BinaryExpr) and isinstance(b, BinaryExpr):
        return [(a.left, b.left), (a.right, b.right)]
    if isinstance(a, Call) and isinstance(b, Call) and a.op.name == b.op.name and len(a.args) == len(b.args):
        return list(zip(a.args, b.args, strict=True))
    return None


def same_extents(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return len(a) == len(b) and all(same_extent(x, y) for x, y in zip(a, b, strict=True))
