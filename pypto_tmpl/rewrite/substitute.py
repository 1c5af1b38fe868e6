"""Other expressions in the place of variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.rewrite.rewriter import Rewriter

N = TypeVar("N")


def substitute(node: N, values: Mapping[ir.Var, ir.Expr]) -> N:
    """``node`` with each variable of ``values`` read as its value, in types and attributes too.

    All are replaced at once: what a value names is not replaced again. Raises ValueError for a variable that
    ``node`` itself binds, and TypeError where only a variable can stand and the value is none, for a
    key that is no variable, and for a value that is no expression.
    """
    for var, value in values.items():
        if not isinstance(var, ir.Var) or not isinstance(value, ir.Expr):
            raise TypeError(f"substitute takes expressions by variable, not {value!r} by {var!r}")
    return _Substituting(values).rewrite(node)


class _Substituting(Rewriter):
    opens_sequences = False

    def __init__(self, values: Mapping[ir.Var, ir.Expr]) -> None:
        super().__init__()
        self._values = dict(values)
        for var, value in values.items():
            self.bind(var, value)

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if old in self._values:
            raise ValueError(f"{old.name_hint!r} is bound here, so that no value can be put in its place")
        return typed
