"""Statements of a host function."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.streams.driver.calls import DriverCalls
from pypto_tmpl.streams.driver.scalars import Scalars
from pypto_tmpl.streams.driver.state import State
from pypto_tmpl.streams.driver.tasks import Tasks, result_at
from pypto_tmpl.streams.driver.values import Buffer, Domain, HostTensor, Meaning, Results, Scalar
from pypto_tmpl.streams.problems import Obstacle, told_of


class Statements:
    """Emits the statements of one function; ``problems`` are those that have no text."""

    def __init__(
        self, function: ir.Function, state: State, scalars: Scalars, tasks: Tasks, calls: DriverCalls
    ) -> None:
        self._function = function
        self._state = state
        self._scalars = scalars
        self._tasks = tasks
        self._calls = calls
        self.problems: list[Unsupported] = []

    def sequence(self, body: ir.Stmt, carries: Sequence[Meaning]) -> None:
        """The lines of a body, whose yield hands its values to ``carries``."""
        for stmt in flat(body):
            with told_of(stmt, self._function.name, self._state.broken, self.problems):
                self._one(stmt, carries)

    def _one(self, stmt: ir.Stmt, carries: Sequence[Meaning]) -> None:
        if isinstance(stmt, ir.AssignStmt):
            self._assign(stmt.var, stmt.value)
        elif isinstance(stmt, ir.EvalStmt):
            self._evaluate(stmt.expr)
        elif isinstance(stmt, ir.CommDomainScopeStmt):
            self._domain(stmt, carries)
        elif isinstance(stmt, ir.ForStmt):
            self._for(stmt)
        elif isinstance(stmt, ir.IfStmt):
            self._if(stmt)
        elif isinstance(stmt, ir.YieldStmt):
            self._hand_over(stmt, carries)
        elif not isinstance(stmt, ir.ReturnStmt):
            raise Obstacle(f"a {type(stmt).__name__} has no form in the driver of several chips")

    def _evaluate(self, value: ir.Expr) -> None:
        if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
            self._tasks.launch(value, None)
        elif isinstance(value, ir.Call):
            self._calls.emit(value, None)
        else:
            raise Obstacle(f"a {type(value).__name__} as a statement has no form in the driver")

    def _assign(self, var: ir.Var, value: ir.Expr) -> None:
        state = self._state
        if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
            self._tasks.launch(value, var)
        elif isinstance(value, ir.Call):
            self._calls.emit(value, var)
        elif isinstance(value, ir.TupleGetItemExpr):
            results = state.meaning(value.tuple)
            if not isinstance(results, Results):
                raise Obstacle(f"{value.tuple} is no tuple of results", value.span)
            state.bind(var, result_at(results, value.index, str(value.tuple), value.span))
        elif isinstance(var.type, ir.ScalarType):
            text = self._scalars.text(value)
            state.line(state.macros.assign(state.named(var).text, text))
        else:
            state.bind(var, state.meaning(value))

    def _domain(self, stmt: ir.CommDomainScopeStmt, carries: Sequence[Meaning]) -> None:
        """The windows of a domain, which are there while its body runs."""
        state, name = self._state, stmt.name_hint
        state.domains.append(name)
        buffers = []
        for slot in stmt.slots:
            buffers.append(Buffer(name, slot.name_hint, self._scalars.text(slot.size)))
            state.bind(slot.base, buffers[-1])
            state.bind(slot, buffers[-1])
        state.line(state.macros.domain(Domain(name, stmt.devices, buffers)))
        with state.suite():
            self.sequence(stmt.body, carries)

    def _for(self, stmt: ir.ForStmt) -> None:
        state = self._state
        start, stop, step = (self._scalars.text(expr) for expr in (stmt.start, stmt.stop, stmt.step))
        carries = [
            self._carry(place, stmt, *pair)
            for place, pair in enumerate(zip(stmt.iter_args, stmt.return_vars, strict=True))
        ]
        with state.block():
            state.line(state.macros.for_open(state.named(stmt.loop_var).text, start, stop, step))
            with state.suite():
                self.sequence(stmt.body, carries)

    def _if(self, stmt: ir.IfStmt) -> None:
        state = self._state
        if stmt.return_vars and stmt.else_body is None:
            raise Obstacle("a branch with results needs an else")
        opening = state.macros.if_open(self._scalars.text(stmt.condition))
        carries = [self._result(var) for var in stmt.return_vars]
        state.line(opening)
        with state.block(), state.suite():
            self.sequence(stmt.then_body, carries)
        if stmt.else_body is not None:
            state.line(state.macros.if_else())
            with state.block(), state.suite():
                self.sequence(stmt.else_body, carries)

    def _carry(self, place: int, stmt: ir.ForStmt, arg: ir.IterArg, var: ir.Var) -> Meaning:
        """What a loop hands from round to round; a tensor that is written in place stays what it is."""
        state = self._state
        if isinstance(arg.type, ir.ScalarType):
            text = self._scalars.text(arg.initValue)
            found: Meaning = state.named(var)
            state.line(state.macros.assign(self._text(found), text))
        else:
            found = state.meaning(arg.initValue)
            if isinstance(found, HostTensor) and stmt.attrs.get(f"iter_arg_rebind_{place}") is not False:
                text = self._text(found)
                found = state.keyed(var)
                state.line(state.macros.assign(self._text(found), text))
        state.bind(arg, found)
        state.bind(var, found)
        return found

    def _result(self, var: ir.Var) -> Meaning:
        """What a branch hands on."""
        if isinstance(var.type, ir.ScalarType):
            return self._state.named(var)
        if isinstance(var.type, ir.TensorType) and not isinstance(var.type, ir.DistributedTensorType):
            return self._state.keyed(var)
        raise Obstacle(
            f"branches that hand on a {type(var.type).__name__} have no form in the driver", var.span
        )

    def _hand_over(self, stmt: ir.YieldStmt, carries: Sequence[Meaning]) -> None:
        """Set the carries to what a body yields; all values are those before any is set."""
        targets, values = [], []
        for carry, value in zip(carries, stmt.value, strict=True):
            if isinstance(carry, Scalar):
                text = self._scalars.text(value)
            else:
                found = self._state.meaning(value)
                if found != carry and not isinstance(carry, HostTensor):
                    raise Obstacle(f"{value} is another one in the next round", value.span)
                text = self._text(found)
            if text != self._text(carry):
                targets.append(self._text(carry))
                values.append(text)
        if targets:
            self._state.line(self._state.macros.assign(", ".join(targets), ", ".join(values)))

    def _text(self, meaning: Meaning) -> str:
        """A scalar or a tensor of the host as a value of Python; "" for anything that is none."""
        if isinstance(meaning, Scalar):
            return meaning.text
        return str(self._state.macros.tensor(meaning.key)) if isinstance(meaning, HostTensor) else ""
