"""Statements that compute, and the order and comments of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.assignments import Assignments
from pypto_tmpl.codegen.calls import OperatorCalls
from pypto_tmpl.codegen.comments import Comments
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.facts import Launch
from pypto_tmpl.codegen.groups import CallPair
from pypto_tmpl.codegen.inline import inline_source
from pypto_tmpl.codegen.launches import Launches
from pypto_tmpl.codegen.trace_emitter import Tracing
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.ir.bodies import flat

MAX_STATEMENTS = 500_000  # of one function: blocks that share blocks could be told in no end of text
Handler = Callable[[Any], Lines]


class Statements:
    """Texts of statements in one function, unindented.

    What has blocks is the business of those who say so by ``handle``.
    """

    def __init__(
        self,
        context: Context,
        variables: Variables,
        values: Values,
        expressions: Expressions,
        calls: OperatorCalls,
        launches: Launches,
        assignments: Assignments,
        tracing: Tracing,
        comments: Comments,
    ) -> None:
        self._context, self._forms = context, context.forms
        self._variables, self._values, self._expressions = variables, values, expressions
        self._calls, self._launches, self._assignments = calls, launches, assignments
        self._tracing, self._comments = tracing, comments
        self._marks = context.script.marks
        self._is_traced = context.script.trace is not None
        self._has_source, self._has_types = context.script.source_comments, context.script.comments
        self._count = 0
        self._pair_target: ir.Var | None = None  # of the earlier call of a pair, which runs with the later
        self._handlers: dict[type, Handler] = {
            ir.AssignStmt: self._assign,
            ir.EvalStmt: self._evaluate,
            ir.InlineStmt: self._inline,
        }

    def handle(self, handlers: Mapping[type[ir.Stmt], Handler]) -> None:
        """Say who makes the texts of some kinds of statements."""
        self._handlers.update(handlers)

    def let_go(self) -> None:
        """Forget those who do: no statement of the function is left."""
        self._handlers.clear()

    def emit_stmt(self, stmt: ir.Stmt) -> Lines:
        """Texts of ``stmt``, its comments first; an op without effect here has none."""
        if type(stmt) is ir.SeqStmts:
            return self._sequence(stmt)
        self._count += 1
        if self._count > MAX_STATEMENTS:
            return self._too_many(stmt)
        self._expressions.parts = 0
        if type(stmt) not in self._handlers:
            self._context.report(f"statement {type(stmt).__name__}", stmt.span)
            return []
        self._context.current_span = stmt.span
        lines = self._tracing.statement(stmt, self._own_lines) if self._is_traced else self._own_lines(stmt)
        if lines and self._has_source:
            lines = [*self._comments.source_line(stmt), *lines]
        if not stmt.leading_comments:
            return lines
        comments = [
            self._forms.comment(printable(line))
            for text in stmt.leading_comments
            for line in text.splitlines() or [""]
        ]
        return comments + lines

    def _own_lines(self, stmt: ir.Stmt) -> Lines:
        """The texts of a statement without what records it; those that a user wrote have no marks."""
        lines, marks = self._handlers[type(stmt)](stmt), self._marks
        if marks.takes_notes:
            launch = getattr(stmt, "value", None) or getattr(stmt, "expr", None)
            if isinstance(launch, Launch):
                marks.notes[stmt] = self._launches.launch_note(launch)
        if lines and self._has_types and isinstance(stmt, ir.AssignStmt):
            self._comments.note_types(stmt)
        return lines if type(stmt) is ir.InlineStmt else marks.own(lines, stmt)

    def _sequence(self, stmt: ir.SeqStmts) -> Lines:
        lines: Lines = []
        is_flat = ir.SeqStmts not in map(type, stmt.stmts)
        for child in stmt.stmts if is_flat else flat(stmt):
            lines += self.emit_stmt(child)
            if self._count > MAX_STATEMENTS:
                break
        return lines

    def _too_many(self, stmt: ir.Stmt) -> Lines:
        if self._count == MAX_STATEMENTS + 1:
            self._context.report(f"a function of more than {MAX_STATEMENTS} statements", stmt.span)
        return []

    def _assign(self, stmt: ir.AssignStmt) -> Lines:
        var, value = stmt.var, stmt.value
        if self._values.noops and self._values.is_noop(value):
            self._calls.check_noop(value)
            self._variables.bind_nothing(var)
            return []
        if self._launches.pair is not None:
            return self._assign_in_pair(self._launches.pair, var, value)
        quiet = self._values.quiet
        if quiet is None or not quiet.parts:
            return self._assignments.assign(var, value)
        if quiet.is_part(stmt):
            return self._assignments.unpacked(var, value)
        parts = quiet.parts.get(id(stmt))
        if parts is None:
            return self._assignments.assign(var, value)
        return self._assignments.unpack(var, value, parts)

    def _assign_in_pair(self, pair: CallPair, var: ir.Var, value: ir.Expr) -> Lines:
        """An assignment of a function in which two calls are one."""
        if pair.is_first(value):
            self._pair_target = var if pair.gives(value) else None
            return [] if pair.gives(value) else self._assign_finished(var, value)
        if pair.is_last(value):
            if len(pair.givers) > 1:
                return self.assign_both(pair, var)
            if not pair.gives(value):
                return [*self._evaluate_pair(value), *self._assign_finished(var, value)]
        return self._assignments.assign(var, value)

    def assign_both(self, pair: CallPair, var: ir.Var) -> Lines:
        """Both calls of a pair where the values of both have names."""
        first, self._pair_target = self._pair_target, None
        targets = [var if giver is pair.last else first for giver in pair.givers]
        call = self._launches.pair_call(pair)
        names = [self._variables.bind(target) for target in targets if target is not None]
        lines: Lines = [self._forms.assign_all(names, [call])]
        for target in targets:
            lines += self._assignments.whole(target) if target is not None else []
        for name, giver in zip(names, pair.givers, strict=True):
            if isinstance(giver, ir.Submit):
                lines.append(self._forms.assign(name, self._launches.as_launched(giver, name)))
        return lines

    def _assign_finished(self, var: ir.Var, value: ir.Expr) -> Lines:
        """The variable of a pair's call that does not give its value: that of a submit has a task id."""
        if not isinstance(value, ir.Submit):
            return []
        return [self._forms.assign(self._variables.bind(var), self._launches.finished(value))]

    def _evaluate(self, stmt: ir.EvalStmt) -> Lines:
        value = stmt.expr
        if self._values.noops and self._values.is_noop(value):
            self._calls.check_noop(value)
            return []
        pair = self._launches.pair
        if pair is not None and pair.is_first(value):
            self._pair_target = None
            return []
        if pair is not None and pair.is_last(value) and not pair.gives(value):
            return self._evaluate_pair(value)
        if isinstance(value, ir.Submit):
            return [self._forms.evaluate(self._launches.submitted_call(value))]
        return [self._forms.evaluate(self._expressions.alone(value)), *self._assignments.freed(value)]

    def _evaluate_pair(self, last: ir.Expr) -> Lines:
        """Both calls of a pair whose result an earlier statement has asked for."""
        target, self._pair_target = self._pair_target, None
        if target is None:
            return [self._forms.evaluate(self._expressions.alone(last))]
        return self._assignments.assign(target, last)

    def _inline(self, stmt: ir.InlineStmt) -> Lines:
        source, problem = inline_source(stmt)
        if problem is not None:
            self._context.report(problem, stmt.span)
        self._context.script.has_foreign_text = True
        return [self._forms.inline(source)] if source else []


def printable(text: str) -> str:
    """A line of ``text`` as it may stand in a comment: without what ends a line or no file can hold."""
    return "".join(c if c == "\t" or c.isprintable() else "?" for c in text).rstrip()
