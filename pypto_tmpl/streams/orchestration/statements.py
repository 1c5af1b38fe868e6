"""Statements of an orchestration function."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeGuard

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.streams.orchestration.calls import HostCalls
from pypto_tmpl.streams.orchestration.carries import Carries, Carry
from pypto_tmpl.streams.orchestration.creations import Creations
from pypto_tmpl.streams.orchestration.launches import Launches, result_at
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.spelling import TENSOR, cpp_type
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.values import Cpp, Meaning, Results
from pypto_tmpl.streams.problems import BrokenError, Obstacle, told_of


class Statements:
    """Emits the statements of one function; ``problems`` are those that have no text."""

    def __init__(
        self,
        state: State,
        scalars: Scalars,
        creations: Creations,
        launches: Launches,
        calls: HostCalls,
        read: frozenset[ir.Var],
    ) -> None:
        self._state = state
        self._scalars = scalars
        self._creations = creations
        self._launches = launches
        self._calls = calls
        self._carries = Carries(state, scalars)
        self._read = read  # variables that something reads
        self._macros = state.templates.statements
        self.problems: list[Unsupported] = []

    def sequence(self, body: ir.Stmt, carries: list[Carry | None]) -> None:
        """The lines of a body, whose yield hands its values to ``carries``."""
        statements = list(flat(body))
        with suppress(Obstacle, BrokenError):  # told where the statement itself stands
            self._creations.begin(statements)
        for stmt in statements:
            if not self._creations.is_done(stmt):
                with told_of(stmt, self._state.function.name, self._state.broken, self.problems):
                    self._one(stmt, carries)

    def _one(self, stmt: ir.Stmt, carries: list[Carry | None]) -> None:
        if isinstance(stmt, ir.AssignStmt):
            self._assign(stmt)
        elif isinstance(stmt, ir.EvalStmt):
            self._evaluate(stmt)
        elif isinstance(stmt, ir.RuntimeScopeStmt):
            self._scope(stmt, carries)
        elif isinstance(stmt, ir.ForStmt):
            self._for(stmt)
        elif isinstance(stmt, ir.WhileStmt):
            self._while(stmt)
        elif isinstance(stmt, ir.IfStmt):
            self._if(stmt)
        elif isinstance(stmt, ir.YieldStmt):
            self._carries.hand_over(stmt, carries)
        elif not isinstance(stmt, ir.ReturnStmt):
            raise Obstacle(f"a {type(stmt).__name__} has no form on the host")

    # Assignments

    def _evaluate(self, stmt: ir.EvalStmt) -> None:
        value = stmt.expr
        if is_launch(value):
            self._launches.launch(value, None)
        elif isinstance(value, ir.Call):
            self._calls.emit(value, None, stmt)
        else:
            raise Obstacle(f"a {type(value).__name__} as a statement has no form on the host")

    def _assign(self, stmt: ir.AssignStmt) -> None:
        var, value = stmt.var, stmt.value
        if is_launch(value):
            self._launches.launch(value, var)
            self._take_result(var, value)
        elif isinstance(value, ir.Call):
            self._calls.emit(value, var, stmt)
            self._reserve(var)
        elif isinstance(value, ir.TupleGetItemExpr):
            self._element(var, value)
        elif isinstance(var.type, ir.ScalarType) and var.type.dtype != ir.DataType.TASK_ID:
            text = self._scalars.text(value)
            self._declare(var, cpp_type(var.type.dtype), text)
        else:
            self._copy(var, self._state.meaning(value))

    def _copy(self, var: ir.Var, meaning: Meaning) -> None:
        """Another name of something; of a tensor there is a copy under that name, which shows the same cells.

        A tensor of the caller keeps being called as it is, and its copy has the name of the parameter.
        """
        state = self._state
        own = state.own_name(meaning.name) if isinstance(meaning, Cpp) else None
        if not isinstance(var.type, ir.TensorType) or not isinstance(meaning, Cpp):
            self._name(var, meaning)
        elif own is None:
            self._declare(var, TENSOR, meaning.name)
        else:
            state.bind(var, meaning)
            if not state.is_declared(own):
                state.declare_in_block(own, var)
                state.line(self._macros.declare(TENSOR, own, meaning.name))

    def _take_result(self, var: ir.Var, value: ir.Call | ir.Submit) -> None:
        """A launch with one result is that result; one with several keeps its name to itself."""
        results = self._state.meaning(var)
        assert isinstance(results, Results)
        if isinstance(var.type, ir.TupleType):
            self._state.names.take(var.name_hint)
        elif not isinstance(var.type, ir.UnknownType):
            self._result(var, result_at(results.parts, 0, value.op.name, value.span))

    def _element(self, var: ir.Var, value: ir.TupleGetItemExpr) -> None:
        results = self._state.meaning(value.tuple)
        if not isinstance(results, Results):
            raise Obstacle(f"{value.tuple} is no tuple of results", value.span)
        self._result(var, result_at(results.parts, value.index, str(value.tuple), value.span))

    def _result(self, var: ir.Var, result: Meaning) -> None:
        """A result under the name of a variable; what the run time makes is kept where something reads it."""
        if not isinstance(result, Cpp) or not result.made:
            self._name(var, result)
        elif var in self._read:
            self._declare(var, result.made, result.name, is_valid=result.is_valid)
        else:
            self._state.names.take(var.name_hint)

    def _declare(self, var: ir.Var, type_: str, value: str, *, is_valid: bool = False) -> None:
        """Declare a variable, or set one that is declared already."""
        is_declared = self._state.is_hoisted(var)
        name = self._state.declare(var)
        self._state.bind(var, Cpp(name, is_valid))
        text = self._macros.assign(name, value) if is_declared else self._macros.declare(type_, name, value)
        self._state.line(text)

    def _name(self, var: ir.Var, meaning: Meaning) -> None:
        """Let a variable be another name of something."""
        self._state.bind(var, meaning)
        self._reserve(var)

    def _reserve(self, var: ir.Var) -> None:
        """Take the name of a variable that the text does not show, unless it is a tensor of the caller."""
        meaning = self._state.meanings.get(var)
        if isinstance(meaning, Cpp) and self._state.own_name(meaning.name) is not None:
            return
        if not (isinstance(meaning, Cpp) and self._state.is_declared_for(meaning.name, var)):
            self._state.names.take(var.name_hint)

    # Blocks

    def _scope(self, stmt: ir.RuntimeScopeStmt, carries: list[Carry | None]) -> None:
        self._creations.before_scope(stmt)
        self._carries.declare_before(stmt)
        self._state.line(self._macros.scope_open(stmt.manual))
        self._body(stmt.body, carries)
        self._state.line(self._macros.close())

    def _body(self, body: ir.Stmt, carries: list[Carry | None]) -> None:
        with self._state.block():
            self.sequence(body, carries)

    def _for(self, stmt: ir.ForStmt) -> None:
        start, stop, step = (self._scalars.text(expr) for expr in (stmt.start, stmt.stop, stmt.step))
        carries = self._carries.begin_loop(stmt, start, step)
        variable = self._state.declare_loop_variable(stmt.loop_var)
        self._state.bind(stmt.loop_var, Cpp(variable))
        condition = self._macros.for_condition(_direction(stmt.step), variable, stop, step)
        self._state.line(self._macros.for_open(variable, start, condition, step))
        self._carries.in_loop(carries, variable)
        with self._state.block():
            self._state.declare_in_block(variable, stmt.loop_var)
            self.sequence(stmt.body, carries)
        self._state.line(self._macros.close())

    def _while(self, stmt: ir.WhileStmt) -> None:
        carries = self._carries.begin_loop(stmt, "", "")
        self._state.line(self._macros.while_open(self._scalars.text(stmt.condition)))
        self._body(stmt.body, carries)
        self._state.line(self._macros.close())

    def _if(self, stmt: ir.IfStmt) -> None:
        if stmt.return_vars and stmt.else_body is None:
            raise Obstacle("a branch with results needs an else")
        condition = self._scalars.text(stmt.condition)
        carries = self._carries.begin_branch(stmt)
        self._state.line(self._macros.if_open(condition))
        self._body(stmt.then_body, carries)
        if stmt.else_body is not None:
            self._state.line(self._macros.if_else())
            self._body(stmt.else_body, carries)
        self._state.line(self._macros.close())


def is_launch(value: ir.Expr) -> TypeGuard[ir.Call | ir.Submit]:
    """Whether a value is what a launched function gives."""
    return isinstance(value, ir.Submit) or (isinstance(value, ir.Call) and isinstance(value.op, ir.GlobalVar))


def _direction(step: ir.Expr) -> str:
    """The sign of a loop's step, "" of one that is not known."""
    if not isinstance(step, ir.ConstInt):
        return ""
    return "none" if step.value == 0 else "up" if step.value > 0 else "down"
