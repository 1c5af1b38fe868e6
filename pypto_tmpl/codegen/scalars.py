"""Scalar expressions: nesting and parentheses; the texts are macros of ``script/expressions.py.jinja``."""

from __future__ import annotations

from typing import Any, Protocol

from pypto_tmpl import ir

# Binding strength of Python's operators, weakest first; calls, names and literals bind tightest.
_OR, _AND, _NOT, _COMPARE, _BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _SUM, _PRODUCT, _SIGN, _POWER, ATOM = range(
    13
)

_BINARY_STRENGTH: dict[type[ir.BinaryExpr], int] = {
    ir.Or: _OR,
    ir.And: _AND,
    ir.Xor: _COMPARE,
    ir.Eq: _COMPARE,
    ir.Ne: _COMPARE,
    ir.Lt: _COMPARE,
    ir.Le: _COMPARE,
    ir.Gt: _COMPARE,
    ir.Ge: _COMPARE,
    ir.BitOr: _BIT_OR,
    ir.BitXor: _BIT_XOR,
    ir.BitAnd: _BIT_AND,
    ir.BitShiftLeft: _SHIFT,
    ir.BitShiftRight: _SHIFT,
    ir.Add: _SUM,
    ir.Sub: _SUM,
    ir.Mul: _PRODUCT,
    ir.FloorDiv: _PRODUCT,
    ir.FloorMod: _PRODUCT,
    ir.FloatDiv: _PRODUCT,
    ir.Pow: _POWER,
    ir.Min: ATOM,
    ir.Max: ATOM,
}
_UNARY_STRENGTH: dict[type[ir.UnaryExpr], int] = {
    ir.Not: _NOT,
    ir.Neg: _SIGN,
    ir.BitNot: _SIGN,
    ir.Abs: ATOM,
    ir.Cast: ATOM,
}
_CALL_LIKE = (ir.Min, ir.Max, ir.Xor)  # operands stand inside parentheses of their own


class ExpressionSource(Protocol):
    """What the scalar emitter needs of the function emitter."""

    macros: Any

    def expr(self, node: ir.Expr) -> str: ...


def strength(node: ir.Expr) -> int:
    """How tightly the text of ``node`` binds."""
    if isinstance(node, ir.BinaryExpr):
        if type(node) is ir.FloatDiv and _is_int(node):
            return ATOM
        return _BINARY_STRENGTH[type(node)]
    if isinstance(node, ir.Cast) and _is_free(node):
        return strength(node.operand)
    if isinstance(node, ir.UnaryExpr):
        return _UNARY_STRENGTH[type(node)]
    if isinstance(node, ir.ConstInt | ir.ConstFloat) and str(node.value).startswith("-"):
        return _SIGN
    return ATOM


def binary(source: ExpressionSource, node: ir.BinaryExpr) -> str:
    """Text of a binary operator; chained comparisons and powers are always parenthesised."""
    own = strength(node)
    if type(node) in _CALL_LIKE or own == ATOM:
        left, right = source.expr(node.left), source.expr(node.right)
    else:
        strict_left = own in (_COMPARE, _POWER)
        left = _operand(source, node.left, own + strict_left)
        right = _operand(source, node.right, own + 1)
    name = "IntDiv" if type(node) is ir.FloatDiv and _is_int(node) else type(node).__name__
    text: str = getattr(source.macros, name)(left, right)
    return text


def unary(source: ExpressionSource, node: ir.UnaryExpr) -> str:
    """Text of a unary operator other than a cast."""
    if type(node) is ir.Cast:
        return _cast(source, node)
    operand = (
        source.expr(node.operand) if type(node) is ir.Abs else _operand(source, node.operand, strength(node))
    )
    text: str = getattr(source.macros, type(node).__name__)(operand)
    return text


def _operand(source: ExpressionSource, node: ir.Expr, needed: int) -> str:
    text = source.expr(node)
    if strength(node) >= needed:
        return text
    wrapped: str = source.macros.parenthesized(text)
    return wrapped


def _cast(source: ExpressionSource, node: ir.Cast) -> str:
    """A scalar conversion: integers wrap into a narrower type, floats truncate towards zero."""
    target, operand = _dtype(node), source.expr(node.operand)
    have = _dtype(node.operand)
    macros = source.macros
    text: str
    if target == ir.DataType.BOOL:
        text = macros.cast_to_bool(operand)
    elif target.is_float():
        is_narrow = target.get_bit() < 32
        text = (
            macros.cast_to_narrow_float(operand, target.name) if is_narrow else macros.cast_to_float(operand)
        )
    elif _is_free(node):
        text = operand
    elif _holds(target, have):
        text = macros.cast_to_int(operand)
    else:
        whole = operand if have.is_int() else macros.cast_to_int(operand)
        text = macros.wrapped(whole, target.get_bit(), target.is_signed_int())
    return text


def _is_free(node: ir.Cast) -> bool:
    """True for a conversion between integers that changes no value: it has no text of its own."""
    target, have = _dtype(node), _dtype(node.operand)
    return target.is_int() and have.is_int() and _holds(target, have)


def _holds(target: ir.DataType, have: ir.DataType) -> bool:
    """True when every value of ``have`` is one of the integer type ``target``."""
    if have == ir.DataType.BOOL:
        return True
    if not have.is_int():
        return target.get_bit() == 64
    if have.is_signed_int():
        return target.is_signed_int() and target.get_bit() >= have.get_bit()
    return target.get_bit() >= have.get_bit() + target.is_signed_int()


def _dtype(node: ir.Expr) -> ir.DataType:
    return node.type.dtype if isinstance(node.type, ir.ScalarType) else ir.DataType.INDEX


def _is_int(node: ir.Expr) -> bool:
    return _dtype(node).is_int()
