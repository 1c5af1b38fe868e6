"""Extents of shapes: plain integers as constants, and the weak equality that constructors use."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl.ir.base import Expr, check_kind, node_tuple
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.leaves import ConstInt
from pypto_tmpl.ir.span import Span


def as_extent(value: int | Expr) -> Expr:
    """``value`` as an expression; an int becomes an INDEX constant."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ConstInt(value, DataType.INDEX, Span.unknown())
    if not isinstance(value, Expr):
        raise TypeError(f"an extent must be int or Expr, got {type(value).__name__}")
    return value


_EXTENT_KINDS: tuple[type[int | Expr], ...] = (int, Expr)


def extent_of(value: int | Expr, field: str, owner: object) -> Expr:
    """``as_extent`` for a node or type that is being constructed; errors name its class and field."""
    check_kind(value, _EXTENT_KINDS, field, owner)
    return as_extent(value)


def extents_of(values: Sequence[int | Expr], field: str, owner: object) -> tuple[Expr, ...]:
    """All extents of a type or view that is being constructed; errors name its class and field."""
    return tuple(as_extent(value) for value in node_tuple(values, _EXTENT_KINDS, field, owner))


def as_extents(values: Sequence[int | Expr]) -> tuple[Expr, ...]:
    return tuple(as_extent(value) for value in values)


def constant_extent(extent: Expr) -> int | None:
    """The value of a constant extent, None for any other expression."""
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
    if type(a) is not type(b):
        return None
    left, right = a.extent_parts(), b.extent_parts()
    if left is None or right is None or left[0] != right[0] or len(left[1]) != len(right[1]):
        return None
    return list(zip(left[1], right[1], strict=True))


def same_extents(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return len(a) == len(b) and all(same_extent(x, y) for x, y in zip(a, b, strict=True))
