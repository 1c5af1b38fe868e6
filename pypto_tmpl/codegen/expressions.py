"""Texts of expressions within one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen import scalars
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.filters import py_literal
from pypto_tmpl.codegen.float_literals import within
from pypto_tmpl.codegen.precedence import without_needless_parentheses

# CPython gives up at 200 open brackets (an operator call opens up to three) and, depending on its version, at
# some 3000 levels of syntax.
MAX_NESTING = 60
MAX_CHAIN = 1000
MAX_PARTS = 10_000  # of one statement: parts that share parts could be told in no end of text
Handler = Callable[[Any], str]


class Names(Protocol):
    """What an expression asks of the variables that it names."""

    unbound: list[ir.Var]

    def name_of(self, var: ir.Var) -> str: ...
    def forget(self, reported: int) -> None: ...


class Expressions:
    """Texts of expressions; calls are the business of those who say so by ``handle``."""

    def __init__(self, context: Context, variables: Names) -> None:
        self._context, self._variables = context, variables
        self.macros = context.macros
        self.report = context.report
        self._nesting = self._chain = 0
        self.parts = 0  # of the statement being emitted, so far
        self._leaves: dict[type, Handler] = {
            ir.ConstInt: _integer,
            ir.ConstFloat: _constant,
            ir.ConstBool: _constant,
            ir.Var: variables.name_of,
            ir.IterArg: variables.name_of,
        }
        self._handlers: dict[type, Handler] = {}
        self.read: Callable[[ir.Var], str] = variables.name_of  # the text of a variable as an operand

    def handle(self, kind: type[ir.Expr], handler: Handler) -> None:
        """Say who makes the text of a kind of expressions."""
        self._handlers[kind] = handler

    def let_go(self) -> None:
        """Forget those who do: no expression of the function is left."""
        self._handlers.clear()

    def name_by(self, reads: Callable[[ir.Var], str]) -> None:
        """Say who makes the text of a variable that is read, where that is more than its name."""
        self.read = self._leaves[ir.Var] = self._leaves[ir.IterArg] = reads

    def expr(self, node: ir.Expr) -> str:
        """Text of ``node`` as an operand; scalar operators are parenthesised by whoever nests them."""
        emit = self._leaves.get(type(node))
        if emit is not None:
            return emit(node)
        self.parts += 1
        if self._nesting >= MAX_NESTING or self.parts > MAX_PARTS:
            return self._refused(node)
        self._nesting += 1
        emit = self._handlers.get(type(node))
        if emit is not None:
            text = emit(node)
        elif isinstance(node, ir.MakeTuple):
            text = self.macros.tuple_of(self.exprs(node.elements))
        elif isinstance(node, ir.TupleGetItemExpr):
            text = self.macros.item(self.expr(node.tuple), node.index)
        elif isinstance(node, ir.BinaryExpr):
            text = scalars.binary(self, node)
        elif isinstance(node, ir.UnaryExpr):
            text = scalars.unary(self, node)
        else:
            self._context.report(f"expression {type(node).__name__}", node.span)
            text = str(self.macros.nothing())
        self._nesting -= 1
        return text

    def exprs(self, nodes: Iterable[ir.Expr]) -> list[str]:
        """Texts of several nodes, each as an operand."""
        leaves = self._leaves
        return [leaf(node) if (leaf := leaves.get(type(node))) else self.expr(node) for node in nodes]

    def _refused(self, node: ir.Expr) -> str:
        """A placeholder for what is nested too deep or makes its statement too large; reported once."""
        if self.parts <= MAX_PARTS:
            self._context.report(f"an expression nested more than {MAX_NESTING} deep", node.span)
            self.parts = MAX_PARTS + 1
        elif self.parts == MAX_PARTS + 1:
            self._context.report(f"a statement of more than {MAX_PARTS} operators and calls", node.span)
        return str(self.macros.nothing())

    def chained(self, count: int) -> bool:
        """Enter ``count`` operators nested on the left; False (and reported) if Python refuses so many."""
        self._chain += count
        if self._chain <= MAX_CHAIN:
            return True
        self._context.report(
            f"an expression of more than {MAX_CHAIN} operators in a row", self._context.current_span
        )
        self._chain -= count
        return False

    def unchained(self, count: int) -> None:
        """Leave ``count`` operators."""
        self._chain -= count

    def alone(self, node: ir.Expr) -> str:
        """Text of ``node`` where it stands alone: without the parentheses that it can do without."""
        text = self.expr(node)
        return text if type(node) in self._leaves else without_needless_parentheses(text)

    def viewed(self, node: ir.Expr, taker: ir.Var | None) -> str:
        """Text of ``node`` where ``taker`` gets it: a window loses the leading 1s that the taker lacks.

        FuseCreateAssembleToSlice makes windows of the rank of the tensor that they are cut from.
        """
        extra = 0 if taker is None else _leading_ones(node.type, taker.type)
        return self.alone(node) if not extra else str(self.macros.without_leading(self.expr(node), extra))

    def again(self, node: ir.Expr, type_: ir.Type | None = None) -> str:
        """Text of an expression that stands elsewhere too: its obstacles have been reported there.

        Where a value of ``type_`` is wanted, a window loses its leading 1s.
        """
        reported, unbound = len(self._context.script.unsupported), len(self._variables.unbound)
        text = self.expr(node)
        extra = 0 if type_ is None else _leading_ones(node.type, type_)
        text = self.macros.without_leading(text, extra) if extra else text
        del self._context.script.unsupported[reported:]
        self._variables.forget(unbound)
        return text

    def operand(self, node: ir.Expr) -> str:
        """Text of ``node`` as an operand of an op, which may put it next to any operator."""
        text = self.expr(node)
        return text if type(node) in self._leaves else scalars.as_operand(self, node, text)


def _leading_ones(given: ir.Type, wanted: ir.Type) -> int:
    """How many leading extents of 1 a tensor has that one of the wanted rank lacks; 0 where it is no such."""
    if not isinstance(given, ir.TensorType) or not isinstance(wanted, ir.TensorType):
        return 0
    extra = len(given.shape) - len(wanted.shape)
    leading = given.shape[:extra] if extra > 0 else ()
    return extra if leading and all(isinstance(d, ir.ConstInt) and d.value == 1 for d in leading) else 0


_text_of = lru_cache(maxsize=4096, typed=True)(py_literal)


def _integer(node: ir.ConstInt) -> str:
    return _text_of(node.value)


def _constant(node: ir.ConstFloat | ir.ConstBool) -> str:
    """A literal as it is written; what its dtype makes of it where that has no number so large."""
    return py_literal(within(node.value, node.dtype) if isinstance(node, ir.ConstFloat) else node.value)
