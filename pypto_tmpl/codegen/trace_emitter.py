"""The text that makes a traced script record what its statements compute; none in any other script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.memory_access import OFFSETS, memory_reads, memory_source, tuple_operand
from pypto_tmpl.codegen.tracing import FunctionTrace, SiteKind, inputs_of
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.ops import facts as op_facts


class Tracing(Protocol):
    """What is recorded of one function while its text is made."""

    def statement(self, stmt: ir.Stmt, handler: Callable[[Any], Lines]) -> Lines:
        """The texts of a statement, and the records of what it binds, writes or pushes."""

    def function_called(self) -> Lines:
        """What stands first in a function: that it is called, and its parameters."""

    def loop_variable(self, loop: ir.ForStmt) -> Lines:
        """The record at the start of each round of a loop."""

    def in_loop(self, variable: str) -> AbstractContextManager[None]:
        """Records within tell the value of a loop variable."""

    def condition(self, node: ir.Expr, text: str) -> str:
        """Text of the condition of a branch or loop."""

    def value(self, node: ir.Call, text: str) -> str:
        """Text of an op's call; recorded where it has no name, as an operand of another one."""

    def argument(self, parameter: ir.Var | None, argument: ir.Expr, text: str) -> str:
        """Text of an argument of a function; recorded if it is a number without a name."""


class NoTracing:
    """Nothing is recorded."""

    def statement(self, stmt: ir.Stmt, handler: Callable[[Any], Lines]) -> Lines:
        return handler(stmt)

    def function_called(self) -> Lines:
        return []

    def loop_variable(self, loop: ir.ForStmt) -> Lines:
        return []

    def in_loop(self, variable: str) -> AbstractContextManager[None]:
        return nullcontext()

    def condition(self, node: ir.Expr, text: str) -> str:
        return text

    def value(self, node: ir.Call, text: str) -> str:
        return text

    def argument(self, parameter: ir.Var | None, argument: ir.Expr, text: str) -> str:
        return text


class Recording:
    """Records of the values of one function that is selected."""

    def __init__(
        self,
        context: Context,
        trace: FunctionTrace,
        variables: Variables,
        values: Values,
        expressions: Expressions,
        valid: ValidRegions,
    ) -> None:
        self._context, self._macros, self._forms = context, context.macros, context.forms
        self._trace = trace
        self._variables, self._values, self._expressions = variables, values, expressions
        self._valid = valid

    def statement(self, stmt: ir.Stmt, handler: Callable[[Any], Lines]) -> Lines:
        """The texts of a statement, and the records of what it binds, writes or pushes."""
        outer, self._trace.statement = self._trace.statement, stmt
        inputs = self._record_inputs(stmt)
        reads, changes = self._record_memory(stmt)
        lines = handler(stmt)
        if isinstance(stmt, ir.AssignStmt):
            lines = [*lines, *self._record_assigned(stmt)]
        elif isinstance(stmt, ir.EvalStmt):
            lines = [*self._record_pushed(stmt.expr), *lines, *self._record_written(stmt)]
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt) and lines:
            for var in stmt.return_vars:
                lines = [*lines, *self._record_var("value", var)]
        self._trace.statement = outer
        if not lines or isinstance(stmt, ir.InlineStmt):
            return lines
        return self._context.script.marks.statement([*inputs, *reads, *lines, *changes], stmt)

    def function_called(self) -> Lines:
        """What stands first in a function: that it is called, and its parameters."""
        lines = [self._forms.trace_call(self._context.function.name)]
        for var in self._context.function.params:
            lines += self._record_var("parameter", var)
        return lines

    def loop_variable(self, loop: ir.ForStmt) -> Lines:
        """The record at the start of each round of a loop."""
        return self._record_var("loop", loop.loop_var)

    @contextmanager
    def in_loop(self, variable: str) -> Iterator[None]:
        """Records within tell the value of a loop variable."""
        self._trace.loops.append(variable)
        yield
        self._trace.loops.pop()

    def _record_assigned(self, stmt: ir.AssignStmt) -> Lines:
        var, value = stmt.var, stmt.value
        if isinstance(value, ir.Call) and self._values.global_target(value) is not None:
            written = self._record_window(value, var.name_hint, stmt.span)
            if written:
                return written
        return (
            self._record_var("value", var)
            if self._variables.is_bound(var) and not self._variables.is_nothing(var)
            else []
        )

    def _record_inputs(self, stmt: ir.Stmt) -> Lines:
        """What the statement reads, before it changes any of that."""
        leaves = inputs_of(stmt) if self._trace.records_inputs else []
        value = getattr(stmt, "value", getattr(stmt, "expr", None))
        if not any(leaf is not None for leaf in leaves) or (
            isinstance(value, ir.Call) and self._values.is_noop(value)
        ):
            return []
        site = self._trace.site("inputs", "", stmt.span)
        if site is None:
            return []
        texts = [self._macros.nothing() if leaf is None else self._expressions.again(leaf) for leaf in leaves]
        value = self._macros.tuple_of(texts)
        return [self._forms.trace(site, value, None, self._trace.loops, None)]

    def _record_memory(self, stmt: ir.Stmt) -> tuple[Lines, Lines]:
        """Records of who wrote the cells in memory that a statement reads, and of those that it changes."""
        value = getattr(stmt, "value", getattr(stmt, "expr", None))
        if not isinstance(stmt, ir.AssignStmt | ir.EvalStmt) or not isinstance(value, ir.Call):
            return [], []
        if not self._trace.records_inputs or self._values.is_noop(value):
            return [], []
        target = None if isinstance(value.op, ir.GlobalVar) else self._values.global_target(value)
        before: Lines = []
        for read in memory_reads(value, self._context.table, target):
            site = self._trace.site("memory", read.tensor.name_hint, stmt.span)
            if site is not None and not self._variables.is_nothing(read.tensor):
                window = [self._list_of(part) for part in (read.offsets, read.shape)]
                tensor = self._expressions.again(read.tensor)
                before.append(self._forms.trace_read(site, tensor, *window, self._trace.loops))
        if not isinstance(target, ir.Var):
            return before, []
        known, change = self._record_change(value, target, stmt.span)
        return [*before, *known], change

    def _record_change(self, call: ir.Call, target: ir.Var, span: ir.Span) -> tuple[Lines, Lines]:
        """What notes a tensor before it is written to, and which of its cells have been changed then."""
        site = self._trace.site("change", target.name_hint, span)
        if site is None:
            return [], []
        operands = dict(zip(self._context.table[call.op.name].operand_names, call.args, strict=False))
        source = memory_source(operands)
        is_named = isinstance(source, ir.Var) and isinstance(source.type, ir.ShapedType)
        offsets = self._list_of(tuple_operand(operands, OFFSETS))
        written = self._expressions.again(source) if source is not None and is_named else None
        name = self._expressions.again(target)
        change = self._forms.trace_change(site, name, offsets, written, self._trace.loops)
        return [self._forms.trace_known(name)], [change]

    def _list_of(self, parts: tuple[ir.Expr, ...] | None) -> str | None:
        return (
            None
            if parts is None
            else str(self._macros.list_of([self._expressions.again(part) for part in parts]))
        )

    def _record_pushed(self, call: ir.Expr) -> Lines:
        """The tile of a push, before another core can get it."""
        if not isinstance(call, ir.Call) or op_facts.of_value(call).pipe_end != "push":
            return []
        return [
            line
            for tile in call.args[:1]
            if isinstance(tile, ir.Var)
            for line in self._record_var("push", tile)
        ]

    def _record_written(self, stmt: ir.EvalStmt) -> Lines:
        call = stmt.expr
        if not isinstance(call, ir.Call) or self._values.global_target(call) is None:
            return []
        return self._record_window(call, "", stmt.span)

    def _record_window(self, call: ir.Call, variable: str, span: ir.Span) -> Lines:
        """A record of what goes into a tensor in global memory, and where; of names only."""
        entry = self._context.table[call.op.name]
        operands = dict(zip(entry.operand_names, call.args, strict=False))
        source = memory_source(operands)
        target = self._values.global_target(call)
        if not isinstance(target, ir.Var) or not isinstance(source, ir.Var):
            return []
        name = variable or target.name_hint
        site = self._trace.site("write", name, span, target.name_hint)
        if site is None:
            return []
        return [self._record_line(site, source, self._list_of(tuple_operand(operands, OFFSETS)))]

    def _record_var(self, kind: SiteKind, var: ir.Var) -> Lines:
        stmt = self._trace.statement
        site = self._trace.site(kind, var.name_hint, var.span if stmt is None else stmt.span)
        return [] if site is None else [self._record_line(site, var, None)]

    def _record_line(self, site: int, var: ir.Var, window: str | None) -> str:
        region = self._valid.region(var)
        valid = None if region is None else region[0]
        return str(self._forms.trace(site, self._expressions.expr(var), valid, self._trace.loops, window))

    # Expressions

    def condition(self, node: ir.Expr, text: str) -> str:
        """Text of the condition of a branch or loop."""
        return self._traced("condition", "", node, text)

    def value(self, node: ir.Call, text: str) -> str:
        """Text of an op's call; recorded where it has no name, as an operand of another one."""
        if self._trace.is_top(node) or not isinstance(node.type, ir.ShapedType):
            return text
        return self._traced("operand", "", node, text, node.op.name)

    def argument(self, parameter: ir.Var | None, argument: ir.Expr, text: str) -> str:
        """Text of an argument of a function; recorded if it is a number without a name."""
        if parameter is None or isinstance(argument, ir.Var) or not isinstance(argument.type, ir.ScalarType):
            return text
        return self._traced("argument", parameter.name_hint, argument, text)

    def _traced(self, kind: SiteKind, variable: str, node: ir.Expr, text: str, op: str = "") -> str:
        stmt = self._trace.statement
        site = self._trace.site(kind, variable, node.span if stmt is None else stmt.span, op)
        return text if site is None else str(self._macros.traced(site, text, self._trace.loops))
