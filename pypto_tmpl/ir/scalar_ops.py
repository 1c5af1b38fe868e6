"""Scalar operators; tile and tensor arithmetic is always a Call."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from pypto_tmpl.ir.base import Expr, check_kind, set_expr_fields
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.span import Span


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class BinaryExpr(Expr):
    """Base of scalar operators with two operands; operands are not checked against the dtype."""

    left: Expr
    right: Expr

    def __init__(self, left: Expr, right: Expr, dtype: DataType, span: Span) -> None:
        check_kind(left, Expr, "left", self)
        check_kind(right, Expr, "right", self)
        set_expr_fields(self, span, ScalarType(dtype), left=left, right=right)

    def extent_parts(self) -> tuple[Hashable, tuple[Expr, ...]]:
        return (), (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class UnaryExpr(Expr):
    """Base of scalar operators with one operand; the operand is not checked against the dtype."""

    operand: Expr

    def __init__(self, operand: Expr, dtype: DataType, span: Span) -> None:
        check_kind(operand, Expr, "operand", self)
        set_expr_fields(self, span, ScalarType(dtype), operand=operand)


class Add(BinaryExpr):
    __slots__ = ()


class Sub(BinaryExpr):
    __slots__ = ()


class Mul(BinaryExpr):
    __slots__ = ()


class FloorDiv(BinaryExpr):
    __slots__ = ()


class FloorMod(BinaryExpr):
    __slots__ = ()


class FloatDiv(BinaryExpr):
    __slots__ = ()


class Min(BinaryExpr):
    __slots__ = ()


class Max(BinaryExpr):
    __slots__ = ()


class Pow(BinaryExpr):
    __slots__ = ()


class Eq(BinaryExpr):
    __slots__ = ()


class Ne(BinaryExpr):
    __slots__ = ()


class Lt(BinaryExpr):
    __slots__ = ()


class Le(BinaryExpr):
    __slots__ = ()


class Gt(BinaryExpr):
    __slots__ = ()


class Ge(BinaryExpr):
    __slots__ = ()


class And(BinaryExpr):
    __slots__ = ()


class Or(BinaryExpr):
    __slots__ = ()


class Xor(BinaryExpr):
    """Logical exclusive or."""

    __slots__ = ()


class BitAnd(BinaryExpr):
    __slots__ = ()


class BitOr(BinaryExpr):
    __slots__ = ()


class BitXor(BinaryExpr):
    __slots__ = ()


class BitShiftLeft(BinaryExpr):
    __slots__ = ()


class BitShiftRight(BinaryExpr):
    __slots__ = ()


class Abs(UnaryExpr):
    __slots__ = ()


class Neg(UnaryExpr):
    __slots__ = ()


class Not(UnaryExpr):
    """Logical negation."""

    __slots__ = ()


class BitNot(UnaryExpr):
    __slots__ = ()


class Cast(UnaryExpr):
    """Conversion to the dtype of its type."""

    __slots__ = ()


COMPARISONS: tuple[type[BinaryExpr], ...] = (Eq, Ne, Lt, Le, Gt, Ge)
