"""Scalar expressions: nesting and parentheses; the texts are macros of ``script/expressions.py.jinja``.

Scalars are Python's bool, int and float. What an operator yields is reduced to its dtype: integers wrap,
floats are rounded. INT64 and INDEX, which count and index, stay as Python computes them.
"""

from __future__ import annotations

from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen.float_literals import nearest
from pypto_tmpl.codegen.precedence import (
    AND,
    ATOM,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SHIFT,
    SIGN,
    SUM,
)

_BINARY_STRENGTH: dict[type[ir.BinaryExpr], int] = {
    ir.Or: OR,
    ir.And: AND,
    ir.Xor: COMPARE,
    ir.Eq: COMPARE,
    ir.Ne: COMPARE,
    ir.Lt: COMPARE,
    ir.Le: COMPARE,
    ir.Gt: COMPARE,
    ir.Ge: COMPARE,
    ir.BitOr: BIT_OR,
    ir.BitXor: BIT_XOR,
    ir.BitAnd: BIT_AND,
    ir.BitShiftLeft: SHIFT,
    ir.BitShiftRight: SHIFT,
    ir.Add: SUM,
    ir.Sub: SUM,
    ir.Mul: PRODUCT,
    ir.FloorDiv: PRODUCT,
    ir.FloorMod: PRODUCT,
    ir.FloatDiv: PRODUCT,
    ir.Pow: POWER,
    ir.Min: ATOM,
    ir.Max: ATOM,
}
_UNARY_STRENGTH: dict[type[ir.UnaryExpr], int] = {
    ir.Not: NOT,
    ir.Neg: SIGN,
    ir.BitNot: SIGN,
    ir.Abs: ATOM,
    ir.Cast: ATOM,
}
# Operators whose result may lie beyond the dtype of integers, or between the numbers of one of floats.
_MAY_OVERFLOW = (ir.Add, ir.Sub, ir.Mul, ir.Pow, ir.BitShiftLeft, ir.Neg, ir.Abs)
_MAY_ROUND = (ir.Add, ir.Sub, ir.Mul, ir.FloatDiv, ir.FloorDiv, ir.FloorMod, ir.Pow)
# Of a left operand of these only the low bits matter, so one reduction of the whole chain is enough.
_MODULAR = (ir.Add, ir.Sub, ir.Mul, ir.BitShiftLeft)
_UNREDUCED = (ir.DataType.INT64, ir.DataType.INDEX)
_LOGICAL = (ir.And, ir.Or)
_QUOTIENTS = (ir.FloorDiv, ir.FloatDiv)
_OPERATORS = (ir.BinaryExpr, ir.UnaryExpr)
_NUMBERS = (ir.ConstInt, ir.ConstFloat)
_NARROW_FLOATS = (ir.DataType.FP16, ir.DataType.BF16)


class ExpressionSource(Protocol):
    """What the scalar emitter needs of the function emitter."""

    macros: Any

    def expr(self, node: ir.Expr) -> str: ...
    def chained(self, count: int) -> bool: ...
    def unchained(self, count: int) -> None: ...
    def report(self, what: str, span: ir.Span) -> None: ...


def strength(node: ir.Expr, *, is_reduced: bool = True) -> int:
    """How tightly the text of ``node`` binds; a result that is reduced to its dtype is a call."""
    if is_reduced and (_wraps(node) or _rounds(node)):
        return ATOM
    if isinstance(node, ir.BinaryExpr):
        if type(node) is ir.FloatDiv and _is_int(node):
            return ATOM
        return _BINARY_STRENGTH.get(type(node), OR)
    if isinstance(node, ir.Cast) and _is_free(node):
        return strength(node.operand)
    if isinstance(node, ir.BitNot) and _is_unsigned(node):
        return ATOM
    if isinstance(node, ir.UnaryExpr):
        return _UNARY_STRENGTH.get(type(node), OR)
    if isinstance(node, _NUMBERS) and str(node.value).startswith("-"):
        return SIGN
    return ATOM


def binary(source: ExpressionSource, node: ir.BinaryExpr) -> str:
    """Text of a binary operator. Operators nested on the left are not a recursion: `a + b + c + ...`."""
    spine = [node]
    while isinstance(spine[-1].left, ir.BinaryExpr):
        spine.append(spine[-1].left)
    if not source.chained(len(spine)):
        return str(source.macros.nothing())
    text, is_reduced = source.expr(spine[-1].left), True
    for operator, outer in zip(reversed(spine), [*spine[-2::-1], None], strict=True):
        text = _combined(source, operator, text, is_reduced)
        is_reduced = outer is None or not _reduces(outer, operator)
        if is_reduced:
            text = _reduced(source, operator, text)
    source.unchained(len(spine))
    return text


def _combined(source: ExpressionSource, node: ir.BinaryExpr, left: str, left_is_reduced: bool) -> str:
    """Text of ``node``, given its left operand's; chained comparisons and powers are always parenthesised."""
    kind = type(node)
    if kind not in _BINARY_STRENGTH:
        source.report(f"operator {kind.__name__}", node.span)
        return left
    own, right = strength(node, is_reduced=False), source.expr(node.right)
    left, right = _exact(source, node.left, left), _exact(source, node.right, right)
    if kind in _LOGICAL:
        left, right = _truth(source, node.left, left), _truth(source, node.right, right)
    if own != ATOM and kind is not ir.Xor:  # the operands of the others stand in parentheses of their own
        left = _wrapped(source, node.left, left, own + (own in (COMPARE, POWER)), left_is_reduced)
        right = _wrapped(source, node.right, right, own + 1)
    name = "IntDiv" if kind is ir.FloatDiv and _is_int(node) else kind.__name__
    text: str = getattr(source.macros, name)(left, right)
    return text


def _reduces(outer: ir.BinaryExpr, inner: ir.BinaryExpr) -> bool:
    """Whether reducing ``outer`` makes it needless to reduce ``inner``, its left operand."""
    same_dtype = _dtype(outer) == _dtype(inner)
    return same_dtype and _wraps(outer) and type(outer) in _MODULAR and type(inner) in _MODULAR


def _reduced(source: ExpressionSource, node: ir.Expr, text: str) -> str:
    """The text of an operator's result in the range, or to the precision, of its dtype."""
    dtype, macros = _dtype(node), source.macros
    if _wraps(node):
        return str(macros.wrapped(text, dtype.get_bit(), dtype.is_signed_int()))
    if _rounds(node):
        return str(
            macros.rounded(text) if dtype == ir.DataType.FP32 else macros.cast_to_dtype(text, dtype.name)
        )
    return text


def _wraps(node: ir.Expr) -> bool:
    if not _is_int(node) or _dtype(node) in _UNREDUCED:
        return False
    return type(node) in _MAY_OVERFLOW or _may_divide_by_minus_one(node)


def _may_divide_by_minus_one(node: ir.Expr) -> bool:
    """Whether a signed quotient may be that of the lowest number and -1, which alone leaves the range."""
    if not isinstance(node, _QUOTIENTS) or not _dtype(node).is_signed_int():
        return False
    return not isinstance(node.right, ir.ConstInt) or node.right.value == -1


def _rounds(node: ir.Expr) -> bool:
    return type(node) in _MAY_ROUND and _dtype(node) in (ir.DataType.FP32, *_NARROW_FLOATS)


def _exact(source: ExpressionSource, node: ir.Expr, text: str) -> str:
    """A float literal beside an operator stands for the number of its dtype that is nearest."""
    if not isinstance(node, ir.ConstFloat):
        return text
    number = nearest(node.value, node.dtype)
    return text if number == node.value or number != number else str(source.macros.literal(number))


def unary(source: ExpressionSource, node: ir.UnaryExpr) -> str:
    """Text of a unary operator."""
    kind = type(node)
    if kind not in _UNARY_STRENGTH:
        source.report(f"operator {kind.__name__}", node.span)
        return str(source.macros.nothing())
    operand = source.expr(node.operand)
    if kind is ir.Cast:
        return _cast(source, node, operand)
    if kind is not ir.Abs:
        operand = _wrapped(source, node.operand, operand, _UNARY_STRENGTH[kind])
    text: str = getattr(source.macros, kind.__name__)(operand)
    if kind is ir.BitNot and _is_unsigned(node):  # Python's ~ has a sign
        text = source.macros.wrapped(text, _dtype(node).get_bit(), False)
    return _reduced(source, node, text)


def as_operand(source: ExpressionSource, node: ir.Expr, text: str) -> str:
    """``text`` as an operand that binds tightly: operators, but not signed literals, in parentheses."""
    is_operator = isinstance(node, _OPERATORS) and strength(node) < ATOM
    return str(source.macros.parenthesized(text)) if is_operator else text


def _wrapped(source: ExpressionSource, node: ir.Expr, text: str, needed: int, is_reduced: bool = True) -> str:
    if strength(node, is_reduced=is_reduced) >= needed:
        return text
    wrapped: str = source.macros.parenthesized(text)
    return wrapped


def _truth(source: ExpressionSource, node: ir.Expr, text: str) -> str:
    """An operand of `and` or `or`, which in Python have the value of an operand: a bool it must be."""
    if _dtype(node) == ir.DataType.BOOL or strength(node) == COMPARE:
        return text
    converted: str = source.macros.cast_to_bool(text)
    return converted


def _cast(source: ExpressionSource, node: ir.UnaryExpr, operand: str) -> str:
    """A scalar conversion: integers wrap into a narrower type; floats truncate, saturate, and NaN is 0."""
    target, have = _dtype(node), _dtype(node.operand)
    macros = source.macros
    text = operand
    if target == ir.DataType.BOOL:
        text = macros.cast_to_bool(operand)
    elif target == ir.DataType.FP32:
        text = macros.cast_to_float(operand)
    elif target in _NARROW_FLOATS or (have.is_float() and target.is_int() and target.get_bit() >= 8):
        text = macros.cast_to_dtype(operand, target.name)
    elif not target.is_int():
        source.report(f"a scalar of dtype {target.name} (code {target.code()})", node.span)
    elif have.is_float():
        text = macros.wrapped(macros.cast_to_int(operand), target.get_bit(), target.is_signed_int())
    elif have == ir.DataType.BOOL:
        text = macros.cast_to_int(operand)
    elif not _is_free(node):
        text = macros.wrapped(operand, target.get_bit(), target.is_signed_int())
    return text


def _is_free(node: ir.UnaryExpr) -> bool:
    """True for a conversion between integers that changes no value: it has no text of its own."""
    target, have = _dtype(node), _dtype(node.operand)
    if not (target.is_int() and have.is_int()):
        return False
    if have.is_signed_int():
        return target.is_signed_int() and target.get_bit() >= have.get_bit()
    return target.get_bit() >= have.get_bit() + target.is_signed_int()


def _dtype(node: ir.Expr) -> ir.DataType:
    return node.type.dtype if isinstance(node.type, ir.ScalarType) else ir.DataType.INDEX


def _is_int(node: ir.Expr) -> bool:
    return _dtype(node).is_int()


def _is_unsigned(node: ir.Expr) -> bool:
    return _dtype(node).is_unsigned_int()
