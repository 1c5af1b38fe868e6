"""Building scalar expressions with dtype promotion, and the Python operators of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pypto_tmpl.ir import scalar_ops as nodes
from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.leaves import ConstFloat, ConstInt
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.span import Span

Operand: TypeAlias = "Expr | int | float"
BinaryBuilder: TypeAlias = Callable[..., Expr]
_NOWHERE = Span.unknown()


def scalar_dtype(expr: Expr) -> DataType:
    """Dtype of a scalar expression; TypeError for any other."""
    if not isinstance(expr.type, ScalarType):
        raise TypeError(f"a scalar is needed, got a {type(expr.type).__name__}")
    return expr.type.dtype


def as_expr(value: Operand, span: Span | None = None) -> Expr:
    """``value`` as an expression: ints become INDEX constants, floats FP32 constants."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return ConstInt(value, DataType.INDEX, span or Span.unknown())
    if isinstance(value, float):
        return ConstFloat(value, DataType.FP32, span or Span.unknown())
    raise TypeError(f"a {type(value).__name__} is no operand of a scalar expression")


def promote(left: DataType, right: DataType) -> DataType:
    """Common dtype of two numeric scalars: the wider one, at equal widths the left one."""
    for dtype in (left, right):
        if not (dtype.is_int() or dtype.is_float()):
            raise TypeError(f"{dtype.name} is no number")
    if left.is_float() != right.is_float():
        raise TypeError(f"{left.name} and {right.name}: cast one of them first")
    return right if right.get_bit() > left.get_bit() else left


def _promoted(left: Operand, right: Operand, span: Span) -> tuple[Expr, Expr, DataType]:
    lhs, rhs = as_expr(left, span), as_expr(right, span)
    dtype = promote(scalar_dtype(lhs), scalar_dtype(rhs))
    return _converted(lhs, dtype, span), _converted(rhs, dtype, span), dtype


def _converted(operand: Expr, dtype: DataType, span: Span) -> Expr:
    have = scalar_dtype(operand)
    interchangeable = {have, dtype} <= {DataType.INDEX, DataType.INT64}
    return operand if have == dtype or interchangeable else nodes.Cast(operand, dtype, span)


def _arithmetic(cls: type[nodes.BinaryExpr]) -> BinaryBuilder:
    def build(lhs: Operand, rhs: Operand, span: Span = _NOWHERE) -> Expr:
        left, right, dtype = _promoted(lhs, rhs, span)
        return cls(left, right, dtype, span)

    build.__doc__ = f"{cls.__name__} of the promoted operands, in their common dtype."
    return build


def _comparison(cls: type[nodes.BinaryExpr]) -> BinaryBuilder:
    def build(lhs: Operand, rhs: Operand, span: Span = _NOWHERE) -> Expr:
        left, right, _ = _promoted(lhs, rhs, span)
        return cls(left, right, DataType.BOOL, span)

    build.__doc__ = f"{cls.__name__} of the promoted operands, a BOOL."
    return build


def _bitwise(cls: type[nodes.BinaryExpr]) -> BinaryBuilder:
    def build(lhs: Operand, rhs: Operand, span: Span = _NOWHERE) -> Expr:
        for operand in (as_expr(lhs, span), as_expr(rhs, span)):
            _require_integer(operand)
        left, right, dtype = _promoted(lhs, rhs, span)
        return cls(left, right, dtype, span)

    build.__doc__ = f"{cls.__name__} of two integers, in their common dtype."
    return build


def _logical(cls: type[nodes.BinaryExpr]) -> BinaryBuilder:
    def build(lhs: Expr, rhs: Expr, span: Span = _NOWHERE) -> Expr:
        return cls(lhs, rhs, DataType.BOOL, span)

    build.__doc__ = f"Logical {cls.__name__}, a BOOL; operands are not checked."
    return build


def _require_integer(operand: Expr) -> None:
    if not scalar_dtype(operand).is_int():
        raise TypeError(f"an integer is needed, got {scalar_dtype(operand).name}")


add = _arithmetic(nodes.Add)
sub = _arithmetic(nodes.Sub)
mul = _arithmetic(nodes.Mul)
truediv = _arithmetic(nodes.FloatDiv)
floordiv = _arithmetic(nodes.FloorDiv)
mod = _arithmetic(nodes.FloorMod)
pow = _arithmetic(nodes.Pow)
min_ = _arithmetic(nodes.Min)
max_ = _arithmetic(nodes.Max)
eq = _comparison(nodes.Eq)
ne = _comparison(nodes.Ne)
lt = _comparison(nodes.Lt)
le = _comparison(nodes.Le)
gt = _comparison(nodes.Gt)
ge = _comparison(nodes.Ge)
bit_and = _bitwise(nodes.BitAnd)
bit_or = _bitwise(nodes.BitOr)
bit_xor = _bitwise(nodes.BitXor)
bit_shift_left = _bitwise(nodes.BitShiftLeft)
bit_shift_right = _bitwise(nodes.BitShiftRight)
and_ = _logical(nodes.And)
or_ = _logical(nodes.Or)


def neg(operand: Operand, span: Span = _NOWHERE) -> Expr:
    """Negation in the operand's dtype."""
    value = as_expr(operand, span)
    return nodes.Neg(value, scalar_dtype(value), span)


def bit_not(operand: Operand, span: Span = _NOWHERE) -> Expr:
    """Bitwise complement of an integer."""
    value = as_expr(operand, span)
    _require_integer(value)
    return nodes.BitNot(value, scalar_dtype(value), span)


def not_(operand: Expr, span: Span = _NOWHERE) -> Expr:
    """Logical negation, a BOOL; the operand is not checked."""
    return nodes.Not(operand, DataType.BOOL, span)


def cast(operand: Operand, dtype: DataType, span: Span = _NOWHERE) -> Expr:
    """Conversion to ``dtype``."""
    return nodes.Cast(as_expr(operand, span), dtype, span)


def _no_truth_value(self: Expr) -> bool:
    raise TypeError(
        f"a {type(self).__name__} is an expression without a truth value; compare nodes with `is`, same_as or"
        " structural_equal"
    )


def install_operators() -> None:
    """Give expressions upstream's operators: ``a == b`` builds an Eq node.

    Comparison nodes refuse ``bool()``, so that ``if a == b`` or ``a in list`` cannot silently be true.
    """
    forward: dict[str, BinaryBuilder] = {
        "add": add,
        "sub": sub,
        "mul": mul,
        "truediv": truediv,
        "floordiv": floordiv,
        "mod": mod,
        "pow": pow,
        "and": bit_and,
        "or": bit_or,
        "xor": bit_xor,
        "lshift": bit_shift_left,
        "rshift": bit_shift_right,
    }
    for name, build in forward.items():
        setattr(Expr, f"__{name}__", _method(build))
        setattr(Expr, f"__r{name}__", _reflected(build))
    for name, build in (("eq", eq), ("ne", ne), ("lt", lt), ("le", le), ("gt", gt), ("ge", ge)):
        setattr(Expr, f"__{name}__", _method(build))
    setattr(Expr, "__neg__", lambda self: neg(self))  # noqa: B010
    setattr(Expr, "__invert__", lambda self: bit_not(self))  # noqa: B010
    setattr(Expr, "__hash__", object.__hash__)  # noqa: B010
    for cls in nodes.COMPARISONS:
        setattr(cls, "__bool__", _no_truth_value)  # noqa: B010


def _method(build: BinaryBuilder) -> Callable[[Expr, Any], Expr]:
    return lambda self, other: build(self, other)


def _reflected(build: BinaryBuilder) -> Callable[[Expr, Any], Expr]:
    return lambda self, other: build(other, self)
