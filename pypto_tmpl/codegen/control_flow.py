"""Branches, loops and jumps, and the blocks in them."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.assignments import Assignments
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.facts import assigned_variables
from pypto_tmpl.codegen.launches import Launches
from pypto_tmpl.codegen.statements import Statements
from pypto_tmpl.codegen.trace_emitter import Tracing
from pypto_tmpl.codegen.unchanged import UnchangedValues
from pypto_tmpl.codegen.variables import Variables

MAX_LOOPS = 20  # CPython 3.11 and 3.12 refuse more of them in each other
MAX_BLOCKS = 60  # CPython refuses 100 levels of indentation


class ControlFlow:
    """Texts of statements with blocks in one function."""

    def __init__(
        self,
        context: Context,
        variables: Variables,
        expressions: Expressions,
        launches: Launches,
        assignments: Assignments,
        statements: Statements,
        unchanged: UnchangedValues,
        tracing: Tracing,
    ) -> None:
        self._context, self._forms = context, context.forms
        self._variables, self._expressions = variables, expressions
        self._launches, self._assignments, self._statements = launches, assignments, statements
        self._unchanged, self._tracing = unchanged, tracing
        self.yield_targets: list[Sequence[ir.Var]] = []
        self.closed_scopes = 0  # whose body is a function or a loop of its own: no jumps out of them
        self.loop_depth = 0  # loops that a break would leave
        self.blocks = self.loops = 0
        statements.handle(
            {
                ir.ReturnStmt: self._return,
                ir.YieldStmt: self._yield,
                ir.ForStmt: self._for,
                ir.WhileStmt: self._while,
                ir.IfStmt: self._if,
                ir.BreakStmt: self._break,
                ir.ContinueStmt: self._continue,
            }
        )

    def _return(self, stmt: ir.ReturnStmt) -> Lines:
        if self.closed_scopes:
            self._context.report("a return inside a split-AIV or SPMD scope", stmt.span)
        values, before = list(stmt.value), Lines()
        pair = self._launches.pair
        if pair is not None and len(pair.givers) > 1:
            for index, value in enumerate(values):
                if pair.is_last(value):  # what it gives gets a name, as the other one's value has
                    values[index] = var = ir.Var(pair.last.op.name, value.type, value.span)
                    before = self._statements.assign_both(pair, var)
        return [*before, self._forms.return_values([self._expressions.alone(value) for value in values])]

    def _yield(self, stmt: ir.YieldStmt) -> Lines:
        if not self.yield_targets:
            self._context.report("a yield outside any loop or branch", stmt.span)
            return []
        targets = self.yield_targets[-1]
        if len(targets) != len(stmt.value):
            self._context.report(
                f"a yield of {len(stmt.value)} values to {len(targets)} variables", stmt.span
            )
        return self._assignments.carry(targets, stmt.value)

    def _for(self, stmt: ir.ForStmt) -> Lines:
        if not self._carries_match(stmt, stmt.iter_args, stmt.return_vars):
            return []
        start, stop, step = (self._expressions.alone(bound) for bound in (stmt.start, stmt.stop, stmt.step))
        before = self._assignments.carry(stmt.iter_args, [arg.initValue for arg in stmt.iter_args])
        variable = self._variables.bind(stmt.loop_var)
        with self._tracing.in_loop(variable), self._assignments.in_loop() as declared:
            first = self._tracing.loop_variable(stmt)
            body = [*first, *self._loop_body(stmt.body, stmt.iter_args)]
        loop = self._forms.for_range(variable, start, stop, step, body)
        return [*before, *declared, loop, *self._assignments.results(stmt)]

    def _while(self, stmt: ir.WhileStmt) -> Lines:
        if not self._carries_match(stmt, stmt.iter_args, stmt.return_vars):
            return []
        before = self._assignments.carry(stmt.iter_args, [arg.initValue for arg in stmt.iter_args])
        condition = self._tracing.condition(stmt.condition, self._expressions.alone(stmt.condition))
        with self._assignments.in_loop() as declared:
            body = self._loop_body(stmt.body, stmt.iter_args)
        loop = self._forms.while_loop(condition, body)
        return [*before, *declared, loop, *self._assignments.results(stmt)]

    def _carries_match(
        self, stmt: ir.Stmt, iter_args: Sequence[ir.IterArg], return_vars: Sequence[ir.Var]
    ) -> bool:
        if len(iter_args) == len(return_vars):
            return True
        self._context.report(
            f"a loop with {len(iter_args)} carries and {len(return_vars)} return variables", stmt.span
        )
        return False

    def _loop_body(self, body: ir.Stmt, targets: Sequence[ir.Var]) -> Lines:
        self.yield_targets.append(targets)
        self.loop_depth += 1
        lines = self.block(body, is_loop=True)
        self.loop_depth -= 1
        self.yield_targets.pop()
        return lines

    def _if(self, stmt: ir.IfStmt) -> Lines:
        condition = self._tracing.condition(stmt.condition, self._expressions.alone(stmt.condition))
        if stmt.return_vars:
            self.yield_targets.append(stmt.return_vars)
            if stmt.else_body is None:
                self._context.report("a branch with return variables and no else", stmt.span)
        fresh = ([], []) if stmt.return_vars else self._bound_by_one(stmt)
        then_body = self.block(stmt.then_body)
        else_body = None if stmt.else_body is None else self.block(stmt.else_body)
        if stmt.return_vars:
            self.yield_targets.pop()
        else:
            else_body = [*(else_body or []), *self._unwritten(stmt, stmt.then_body, fresh[0])]
            if stmt.else_body is not None:
                then_body = [*then_body, *self._unwritten(stmt, stmt.else_body, fresh[1])]
        if not then_body and not else_body:
            return []
        return [self._forms.branch(condition, then_body, else_body or None)]

    def _bound_by_one(self, stmt: ir.IfStmt) -> tuple[list[ir.Var], list[ir.Var]]:
        """Variables, unbound so far, that only the one branch assigns, and those that only the other does."""
        bodies = [stmt.then_body, *([stmt.else_body] if stmt.else_body is not None else [])]
        made = [
            {id(v): v for v in assigned_variables(body) if not self._variables.is_bound(v)} for body in bodies
        ]
        first, second = made[0], made[1] if len(made) > 1 else {}
        return [v for v in first.values() if id(v) not in second], [
            v for v in second.values() if id(v) not in first
        ]

    def _unwritten(self, stmt: ir.IfStmt, body: ir.Stmt, made: list[ir.Var]) -> Lines:
        """What a path around a branch has to bind: the destinations of writes that are used after it.

        LowerAutoVectorSplit guards a store by "this lane has rows", and goes on with the store's value.
        """
        lines: Lines = []
        for var in made:
            is_used = self._unchanged.mentions.is_outside(var, stmt)
            unchanged = self._unchanged.value_of(var, body, is_written=True) if is_used else None
            if unchanged is not None:
                lines += self._assignments.carry([var], [unchanged])
        return lines

    def block(self, body: ir.Stmt, *, is_loop: bool = False) -> Lines:
        """Texts of the body of a loop, branch or scope, within what CPython nests."""
        self.blocks += 1
        self.loops += is_loop
        lines: Lines = []
        if self.loops > MAX_LOOPS:
            self._context.report(f"loops nested more than {MAX_LOOPS} deep", body.span)
        elif self.blocks > MAX_BLOCKS:
            self._context.report(f"blocks nested more than {MAX_BLOCKS} deep", body.span)
        else:
            lines = self._statements.emit_stmt(body)
            if lines and all(map(_is_comment, lines)):
                lines.append(self._forms.do_nothing())
        self.blocks -= 1
        self.loops -= is_loop
        return lines

    def _break(self, stmt: ir.BreakStmt) -> Lines:
        if not self.loop_depth:
            self._context.report("a break outside any loop", stmt.span)
        return [self._forms.jump_out()]

    def _continue(self, stmt: ir.ContinueStmt) -> Lines:
        if not self.loop_depth:
            self._context.report("a continue outside any loop", stmt.span)
        return [self._forms.jump_on()]


def _is_comment(text: str) -> bool:
    return text.startswith("#") and all(line.lstrip().startswith("#") for line in text.splitlines())
