"""Scalar expressions as Python text."""

from __future__ import annotations

from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.streams.driver.state import State
from pypto_tmpl.streams.driver.values import Scalar
from pypto_tmpl.streams.problems import Obstacle

_OPERATORS: dict[type[ir.Expr], str] = {
    ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.FloorDiv: "//", ir.FloorMod: "%", ir.FloatDiv: "/",
    ir.Pow: "**",
    ir.Eq: "==", ir.Ne: "!=", ir.Lt: "<", ir.Le: "<=", ir.Gt: ">", ir.Ge: ">=",
    ir.And: "and", ir.Or: "or", ir.Xor: "!=",
    ir.BitAnd: "&", ir.BitOr: "|", ir.BitXor: "^", ir.BitShiftLeft: "<<", ir.BitShiftRight: ">>",
    ir.Neg: "-", ir.Not: "not ", ir.BitNot: "~",
}  # fmt: skip
_FUNCTIONS: dict[type[ir.Expr], str] = {ir.Min: "min", ir.Max: "max", ir.Abs: "abs"}


class Scalars:
    """The scalar expressions of one function; ``operation`` is asked for the text of a call."""

    def __init__(self, state: State, operation: Callable[[ir.Call], str]) -> None:
        self._state = state
        self._operation = operation

    def text(self, expr: ir.Expr) -> str:
        """An expression. Raises Obstacle for one that has no Python form."""
        macros, kind = self._state.macros, type(expr)
        if isinstance(expr, ir.ConstInt | ir.ConstBool | ir.ConstFloat):
            return str(macros.number(expr.value))
        if isinstance(expr, ir.Var):
            return self._variable(expr)
        if isinstance(expr, ir.Call):
            return self._operation(expr)
        if isinstance(expr, ir.Cast):
            assert isinstance(expr.type, ir.ScalarType)
            dtype = expr.type.dtype
            function = "float" if dtype.is_float() else "bool" if dtype == ir.DataType.BOOL else "int"
            return str(macros.called(function, [self.text(expr.operand)]))
        if kind in _FUNCTIONS:
            parts = [expr.left, expr.right] if isinstance(expr, ir.BinaryExpr) else []
            parts += [expr.operand] if isinstance(expr, ir.UnaryExpr) else []
            return str(macros.called(_FUNCTIONS[kind], [self.text(part) for part in parts]))
        if isinstance(expr, ir.BinaryExpr) and kind in _OPERATORS:
            return str(macros.binary(_OPERATORS[kind], self.text(expr.left), self.text(expr.right)))
        if isinstance(expr, ir.UnaryExpr) and kind in _OPERATORS:
            return str(macros.unary(_OPERATORS[kind], self.text(expr.operand)))
        raise Obstacle(f"a {kind.__name__} has no form in the driver", expr.span)

    def _variable(self, var: ir.Var) -> str:
        """The name of a variable; what its value is made of where that is computed further down."""
        state = self._state
        if var not in state.meanings and var not in state.broken and var in state.definitions:
            return self.text(state.definitions[var])
        found = state.meaning(var)
        if not isinstance(found, Scalar):
            raise Obstacle(f"{var.name_hint!r} is no scalar of the host", var.span)
        return found.text
