"""Statements that stand for one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pypto_tmpl import ir, ops
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.rewrite import GeneratedName, as_body, base_name


@dataclass(slots=True)
class Making:
    """Collects the statements that a call becomes."""

    function: ir.Function
    subject: ir.IRNode  # the statement of the call, or the variable that the call is of
    call: ir.Call
    made: list[ir.Stmt] = field(default_factory=list, kw_only=True)

    @property
    def span(self) -> ir.Span:
        """Where the calls and variables that are made stand: where the call does."""
        return self.call.span

    @property
    def statement_span(self) -> ir.Span:
        """Where the statements stand."""
        return self.span

    def let(self, name: str, value: ir.Expr) -> ir.Var:
        """A new variable for a value."""
        var = ir.Var(name, value.type, self.span)
        self.made.append(ir.AssignStmt(var, value, self.statement_span))
        return var

    def emit(self, op: str, /, *operands: Any, **keywords: Any) -> ir.Call:
        """The call of an op; a PassError where the op does not take it."""
        try:
            return ops.call(op, *operands, **{"span": self.span, **keywords})
        except ops.OpCallError as error:
            raise self.error(str(error)) from None

    def error(self, what: str) -> PassError:
        """An error about the call that the statements stand for."""
        return PassError(f"{self.call.op.name}: {what}", self.function, self.call, self.subject)

    @contextmanager
    def body(self) -> Iterator[list[ir.Stmt]]:
        """Collect what is made inside of the ``with`` into a list of its own."""
        outer, self.made = self.made, []
        try:
            yield self.made
        finally:
            self.made = outer

    def block(self, made: list[ir.Stmt]) -> ir.Stmt:
        """Statements as one body."""
        return as_body(made, self.span)


@dataclass(slots=True)
class Recipe(Making):
    """Statements whose variables are numbered through a function: each gets the next of ``numbers``."""

    base: str
    numbers: Iterator[int] = field(default_factory=count)

    def name(self, what: str) -> str:
        """The next name, that tells what the variable is."""
        return str(GeneratedName(base_name(self.base), "tmp", next(self.numbers), what))

    def let(self, what: str, value: ir.Expr) -> ir.Var:
        """A new variable for a value, named after what it is."""
        return Making.let(self, self.name(what), value)
