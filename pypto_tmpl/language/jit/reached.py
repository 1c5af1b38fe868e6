"""What a rewritten body tells by itself of the code in it that no run reaches."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from pypto_tmpl.language.folding import COMPARE, fold, unary

_UNKNOWN = (TypeError, ValueError, ArithmeticError, AttributeError)
_LOOPS = frozenset({"range", "parallel", "unroll", "pipeline"})


class Reached:
    """Answers for rewritten statements; ``outside`` gives the Python values that their text names."""

    def __init__(self, outside: Mapping[str, Any]) -> None:
        self._outside = outside
        self._constants: dict[str, Any] = {}  # what variables that are assigned once are in every run

    def note(self, name: str, value: ast.expr) -> None:
        """Remember a variable that no other statement assigns, where its value is known here."""
        found = self.truth(value) if isinstance(value, ast.BoolOp | ast.UnaryOp) else None
        try:
            self._constants[name] = self._value(value) if found is None else found
        except _UNKNOWN:
            return

    def truth(self, condition: ast.expr) -> bool | None:
        """What a condition is in every run; None where that depends on the run."""
        match condition:
            case ast.BoolOp(op=op, values=values):
                parts, decides = [self.truth(value) for value in values], isinstance(op, ast.Or)
                return decides if decides in parts else None if None in parts else not decides
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found = self.truth(operand)
                return None if found is None else not found
        try:
            return bool(self._value(condition))
        except _UNKNOWN:
            return None

    def has_rounds(self, iterator: ast.expr) -> bool:
        """Whether a loop over ``pl.range(...)`` or its kin may run its body."""
        match iterator:
            case ast.Call(func=ast.Attribute(attr=kind), args=[*bounds]) if kind in _LOOPS:
                try:
                    return bool(range(*map(self._value, bounds)))
                except _UNKNOWN:
                    return True
        return True

    def leaves(self, statement: ast.stmt) -> bool:
        """Whether nothing behind a statement is reached."""
        match statement:
            case ast.Return() | ast.Break() | ast.Continue():
                return True
            case ast.With(body=body):
                return any(map(self.leaves, body))
            case ast.If(test=test, body=body, orelse=orelse):
                taken = self.truth(test)
                then_leaves = taken is False or any(map(self.leaves, body))
                return then_leaves and (taken is True or any(map(self.leaves, orelse)))
        return False

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(op=op, operand=operand):
                return unary(op, self._value(operand))
            case ast.BinOp(left=left, op=operation, right=right):
                return fold(operation, self._value(left), self._value(right))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return COMPARE[type(comparison)](self._value(left), self._value(right))
            case ast.Name(id=name) if name in self._constants:
                return self._constants[name]
            case ast.Name(id=name) if name in self._outside:
                return self._outside[name]
        raise TypeError("only a run has this value")
