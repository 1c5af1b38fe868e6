"""Scalar operands that an op takes in one dtype only: that of its elements, or the signed one."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.ops.calls.arguments import operand_of
from pypto_tmpl.ops.calls.context import Argument, OpCallError, shown_argument

_SIGNED = {8: ir.DataType.INT8, 16: ir.DataType.INT16, 32: ir.DataType.INT32, 64: ir.DataType.INT64}


def signed_operand(name: str, value: Argument, elements: ir.DataType, span: ir.Span) -> ir.Expr:
    """A scalar for elements of that dtype; a number becomes a constant of the signed dtype of their width.

    Unsigned numbers are encoded again: 0xFFFFFFFD is -3 of INT32.   Raises: OpCallError for a number that
    the width does not hold, and for a scalar of another dtype.
    """
    dtype = _SIGNED[elements.get_bit()] if elements.is_int() else elements
    number = _integer(name, value) if elements.is_int() else None
    if number is not None:
        return ir.ConstInt(_encoded(name, number, elements.get_bit()), dtype, span)
    operand = operand_of(value.value if isinstance(value, ir.ConstFloat) else value, span, dtype)
    if not isinstance(operand.type, ir.ScalarType) or operand.type.dtype != dtype:
        raise OpCallError(
            f"the operand {name!r} is {type_text(operand.type)}, and its dtype must be {dtype.name}"
        )
    return operand


def _integer(name: str, value: Argument) -> int | None:
    """The number of a literal; none of a value that only the run knows, or of a constant of another width."""
    is_typed = isinstance(value, ir.ConstInt) and value.dtype != ir.DataType.INDEX
    is_encoded = isinstance(value, ir.ConstInt) and value.dtype.is_unsigned_int()
    if isinstance(value, bool) or (is_typed and not is_encoded):
        return None
    plain = value.value if isinstance(value, (ir.ConstInt, ir.ConstFloat)) else value
    if not isinstance(plain, (int, float)):
        return None
    if plain != plain or plain in (float("inf"), float("-inf")) or plain != int(plain):
        raise OpCallError(f"the operand {name!r} is {shown_argument(value)}, and the elements are integers")
    return int(plain)


def _encoded(name: str, number: int, bits: int) -> int:
    """The signed integer with the bits of a number, which may be written as an unsigned one."""
    half = 1 << (bits - 1)
    if not -half <= number < 2 * half:
        raise OpCallError(f"the operand {name!r} is {number}, which {bits} bits do not hold")
    return number - 2 * half if number >= half else number
