"""Scalar expressions as C++ text."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.orchestration.spelling import cpp_type, float_text
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.problems import Obstacle

_OPERATORS: dict[type[ir.Expr], str] = {
    ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.FloorDiv: "/", ir.FloorMod: "%", ir.FloatDiv: "/",
    ir.Eq: "==", ir.Ne: "!=", ir.Lt: "<", ir.Le: "<=", ir.Gt: ">", ir.Ge: ">=",
    ir.And: "&&", ir.Or: "||", ir.Xor: "!=",
    ir.BitAnd: "&", ir.BitOr: "|", ir.BitXor: "^", ir.BitShiftLeft: "<<", ir.BitShiftRight: ">>",
    ir.Neg: "-", ir.Not: "!", ir.BitNot: "~",
}  # fmt: skip
_EXTREMA: dict[type[ir.Expr], str] = {ir.Min: "min", ir.Max: "max"}


class Scalars:
    """The scalar expressions of one function."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._macros = state.templates.values

    def text(self, expr: ir.Expr) -> str:
        """An expression. Raises Obstacle for one that has no C++ form."""
        if isinstance(expr, ir.ConstInt | ir.ConstBool):
            return str(int(expr.value))
        if isinstance(expr, ir.ConstFloat):
            return float_text(expr.value)
        if isinstance(expr, ir.Var):
            return self._state.variable(expr).name
        kind = type(expr)
        if isinstance(expr, ir.BinaryExpr) and kind in _OPERATORS:
            return str(self._macros.binary(_OPERATORS[kind], self.text(expr.left), self.text(expr.right)))
        if isinstance(expr, ir.BinaryExpr) and kind in _EXTREMA:
            left, right = self.text(expr.left), self.text(expr.right)
            return str(self._macros.extremum(_EXTREMA[kind], self._type(expr), left, right))
        if isinstance(expr, ir.Cast):
            return str(self._macros.cast(self._type(expr), self.text(expr.operand)))
        if isinstance(expr, ir.Abs):
            return str(self._macros.magnitude(self.text(expr.operand)))
        if isinstance(expr, ir.UnaryExpr) and kind in _OPERATORS:
            return str(self._macros.unary(_OPERATORS[kind], self.text(expr.operand)))
        raise Obstacle(f"a {kind.__name__} has no C++ form on the host", expr.span)

    def extent(self, expr: ir.Expr) -> str:
        """An extent or offset as the 32 bits that the run time takes."""
        if isinstance(expr, ir.ConstInt):
            return str(expr.value)
        return str(self._macros.cast("uint32_t", self.text(expr)))

    def extents(self, shape: Sequence[ir.Expr]) -> list[str]:
        """Several extents."""
        return [self.extent(extent) for extent in shape]

    def word(self, expr: ir.Expr) -> str:
        """A scalar as the 64 bits that a task takes."""
        macros = self._macros
        if isinstance(expr, ir.ConstBool):
            return str(macros.word(int(expr.value)))
        if isinstance(expr, ir.ConstInt):
            wide = expr.dtype in (DataType.INDEX, DataType.INT64)
            return str((macros.word if wide else macros.narrow_word)(expr.value))
        dtype = expr.type.dtype if isinstance(expr.type, ir.ScalarType) else None
        if isinstance(expr, ir.ConstFloat) and dtype == DataType.FP32:
            return str(macros.float_word(float_text(expr.value)))
        text = self.text(expr)
        if isinstance(expr, ir.ConstFloat):
            text = str(macros.cast(self._type(expr), text))
        return str(macros.word_of(text)) if dtype is not None and dtype.is_float() else text

    def _type(self, expr: ir.Expr) -> str:
        assert isinstance(expr.type, ir.ScalarType)
        return cpp_type(expr.type.dtype)
