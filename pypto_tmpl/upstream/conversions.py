"""What tensor ops become in kernels: the op table says it, so that scripts can ask and not register."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.runtime.refusals import refuse

_NEEDS = "registers what a tensor op becomes, which the op table says here"
_INSTEAD = "an entry's `lowers_to` says it, also that of an overlay folder (docs/templates.md)"


class ConversionContext:
    """Collects the statements that a call becomes."""

    def __init__(self, span: ir.Span | None = None) -> None:
        self._span = ir.Span.unknown() if span is None else span
        self._stmts: list[ir.Stmt] = []

    @property
    def stmts(self) -> list[ir.Stmt]:
        """The statements so far."""
        return list(self._stmts)

    def let(self, name: str, value: ir.Expr) -> ir.Var:
        """A new variable that is bound to a value."""
        var = ir.Var(name, value.type, self._span)
        self._stmts.append(ir.AssignStmt(var, value, self._span))
        return var

    def emit(self, stmt: ir.Stmt) -> None:
        """One more statement."""
        self._stmts.append(stmt)


def has_op_conversion(op_name: str) -> bool:
    """Whether the op table says what a tensor op becomes in a kernel."""
    table = load_table()
    return op_name in table and bool(table[op_name].lowers_to)


def register_op_conversion(from_op: str, to_op: str) -> NoReturn:
    """Refused: the op table says what an op becomes."""
    refuse("register_op_conversion", _NEEDS, _INSTEAD)


def register_op_conversion_custom(from_op: str, func: Callable[..., Any]) -> NoReturn:
    """Refused: the op table says what an op becomes."""
    refuse("register_op_conversion_custom", _NEEDS, _INSTEAD)


def op_conversion(from_op: str) -> NoReturn:
    """Refused: the op table says what an op becomes."""
    refuse("op_conversion", _NEEDS, _INSTEAD)
