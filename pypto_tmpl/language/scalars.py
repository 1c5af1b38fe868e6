"""The scalar helpers: ``pl.const``, ``pl.min``, ``pl.max``, ``pl.cast``, ``abs`` and ``float``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.language.constants import data_type, shown, unsupported
from pypto_tmpl.language.diagnostics import InvalidOperationError, ParserTypeError
from pypto_tmpl.language.expressions import Operand, as_constant, operand, scalar, typed_constant
from pypto_tmpl.language.folding import compile_time
from pypto_tmpl.language.reader import Reader


def _exactly(reader: Reader, node: ast.Call, count: int) -> list[ast.expr]:
    if len(node.args) != count or node.keywords:
        raise reader.error(ParserTypeError, node, f"{shown(node.func)} takes {count} arguments")
    return node.args


def _const(reader: Reader, node: ast.Call) -> Operand:
    """``pl.const(v, dtype)``: an int or a float constant, as the literal is written."""
    literal, kind = _exactly(reader, node, 2)
    value = compile_time(reader, literal)
    if value is NotImplemented:
        value = operand(reader, literal) if isinstance(literal, (ast.Name, ast.UnaryOp, ast.Call)) else None
    dtype = data_type(reader, kind)
    if isinstance(value, bool):
        return ir.ConstBool(value, reader.span(node))
    if isinstance(value, (int, float)):
        return typed_constant(reader, node, value, dtype)
    raise reader.error(ParserTypeError, literal, f"pl.const takes a number, not {shown(literal)}")


def _float(reader: Reader, node: ast.Call) -> Operand:
    """``float("inf")`` and its like."""
    match node.args[0]:
        case ast.Constant(value=str() | int() | float() as value) if not node.keywords:
            try:
                return float(value)
            except (ValueError, OverflowError):
                pass
    raise unsupported(reader, node, shown(node))


def _extremum(
    build: Callable[..., ir.Expr], choose: Callable[[Any, Any], Any]
) -> Callable[[Reader, ast.Call], Operand]:
    def read(reader: Reader, node: ast.Call) -> Operand:
        left, right = (operand(reader, argument) for argument in _exactly(reader, node, 2))
        try:
            if not isinstance(left, ir.Expr) and not isinstance(right, ir.Expr):
                found: Operand = choose(left, right)
                return found
            lhs = left if isinstance(left, ir.Expr) else as_constant(reader, node.args[0], left)
            rhs = right if isinstance(right, ir.Expr) else as_constant(reader, node.args[1], right)
            return build(lhs, rhs, reader.span(node))
        except TypeError as error:
            raise reader.error(InvalidOperationError, node, f"{shown(node.func)}: {error}") from None

    return read


def _cast(reader: Reader, node: ast.Call) -> Operand:
    """``pl.cast(scalar, dtype)``; casts of tensors and tiles are ops."""
    value, kind = _exactly(reader, node, 2)
    operand_ = scalar(reader, value, "the operand of pl.cast")
    return ir.cast(operand_, data_type(reader, kind), reader.span(node))


def _abs(reader: Reader, node: ast.Call) -> Operand:
    """``abs(x)``, as the printer writes it."""
    value = scalar(reader, _exactly(reader, node, 1)[0], "the operand of abs")
    assert isinstance(value.type, ir.ScalarType)
    return ir.Abs(value, value.type.dtype, reader.span(node))


SCALAR_CALLS: dict[str, Callable[[Reader, ast.Call], Operand]] = {
    "const": _const,
    "min": _extremum(ir.min_, min),
    "max": _extremum(ir.max_, max),
    "cast": _cast,
}
BUILTINS: dict[str, Callable[[Reader, ast.Call], Operand]] = {"abs": _abs, "float": _float}
