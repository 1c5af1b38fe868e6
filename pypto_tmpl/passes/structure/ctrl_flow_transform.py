"""Loops of kernels without break and continue."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.structure.jumps import Jumps, assigned_variables, jumps_in
from pypto_tmpl.passes.structure.lost import refuse_lost_variables
from pypto_tmpl.passes.structure.unroll_loops import constant_integer
from pypto_tmpl.rewrite import GeneratedName, Rewriter, as_body, base_name, build, substitute


class CtrlFlowTransform(FunctionPass):
    """Put what follows a jump into the other branch, or under a flag; a ``for`` with a break is a ``while``.

    Only in kernels, and only in sequential and while loops. A jump leaves the carries of its loop as they
    were.
    """

    __slots__ = ()
    produces = frozenset({IRProperty.StructuredCtrlFlow})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not ir.is_incore_type(function.func_type):
            return function
        structured = _Structured(function).rewrite(function)
        if structured is not function:
            refuse_lost_variables(function, structured)
        return structured


class _Structured(Rewriter):
    """Inner loops come first."""

    def __init__(self, owner: ir.Function) -> None:
        super().__init__()
        self._owner = owner
        self._count = 0

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if isinstance(stmt, ir.ForStmt) and stmt.kind is not ir.ForKind.Sequential:
            return [stmt]
        if not isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            return [stmt]
        if jumps_in(stmt.body, ir.ContinueStmt):
            stmt = build(stmt, body=Jumps(self._owner, stmt, ir.ContinueStmt, self.variable).lowered())
        return self._without_break(stmt) if jumps_in(stmt.body, ir.BreakStmt) else [stmt]

    def variable(self, name: str, role: str, type_: ir.Type, span: ir.Span) -> ir.Var:
        """A new variable; all of a function are counted together."""
        made = GeneratedName(base_name(name), role, self._count)
        self._count += 1
        return ir.Var(str(made), type_, span)

    def _without_break(self, stmt: ir.ForStmt | ir.WhileStmt) -> list[ir.Stmt]:
        span = stmt.span
        flag = self.variable("break", "tmp", ir.ScalarType(ir.DataType.BOOL), span)
        started = ir.AssignStmt(flag, ir.ConstBool(False, span), span)
        goes_on = ir.not_(flag, span)
        if isinstance(stmt, ir.WhileStmt):
            body = Jumps(self._owner, stmt, ir.BreakStmt, self.variable, flag).lowered()
            loop = build(
                stmt, condition=ir.and_(stmt.condition, goes_on, span), body=body, leading_comments=()
            )
            return [build(started, leading_comments=stmt.leading_comments), loop]
        index = self.variable(stmt.loop_var.name_hint, "idx", stmt.loop_var.type, span)
        before, stop, step = self._bounds(stmt)
        first = ir.AssignStmt(index, stmt.start, span)
        before.append(build(first, leading_comments=stmt.leading_comments))
        advance = ir.AssignStmt(index, ir.add(index, step, span), span)
        guarded = ir.IfStmt(goes_on, advance, None, [], span)
        stmt = build(stmt, body=self._reading(index, stmt))
        body = Jumps(self._owner, stmt, ir.BreakStmt, self.variable, flag).lowered([guarded])
        is_below = ir.gt if (constant_integer(step) or 0) < 0 else ir.lt
        condition = ir.and_(is_below(index, stop, span), goes_on, span)
        return [*before, started, ir.WhileStmt(condition, stmt.iter_args, body, stmt.return_vars, span)]

    def _reading(self, index: ir.Var, stmt: ir.ForStmt) -> ir.Stmt:
        """The body in terms of the index; one that assigns the loop variable does so to a copy of it."""
        if any(var is stmt.loop_var for var in assigned_variables(stmt.body)):
            return as_body([ir.AssignStmt(stmt.loop_var, index, stmt.span), stmt.body], stmt.span)
        return substitute(stmt.body, {stmt.loop_var: index})

    def _bounds(self, stmt: ir.ForStmt) -> tuple[list[ir.Stmt], ir.Expr, ir.Expr]:
        """What is bound before the loop, since it is evaluated once, and the bounds in terms of that."""
        if not constant_integer(stmt.step):
            what = f"the loop over {stmt.loop_var.name_hint!r} has a break, and the step {stmt.step}"
            raise PassError(f"{what}, which is no constant", self._owner, stmt, stmt.loop_var)
        assigned = {id(var) for var in assigned_variables(stmt.body)}
        changes = any(isinstance(part, ir.Call) or id(part) in assigned for part in ir.walk(stmt.stop))
        if not changes:
            return [], stmt.stop, stmt.step
        stop = self.variable("stop", "tmp", stmt.stop.type, stmt.span)
        return [ir.AssignStmt(stop, stmt.stop, stmt.span)], stop, stmt.step
