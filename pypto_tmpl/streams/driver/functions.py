"""The host function of a program as a Python module, which the run time of several chips calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops.returned_parameters import ReturnedParameters
from pypto_tmpl.streams.driver.calls import DriverCalls
from pypto_tmpl.streams.driver.scalars import Scalars
from pypto_tmpl.streams.driver.state import State
from pypto_tmpl.streams.driver.statements import Statements
from pypto_tmpl.streams.driver.tasks import Tasks
from pypto_tmpl.streams.driver.values import Created, HostTensor
from pypto_tmpl.streams.problems import DriverError
from pypto_tmpl.streams.templates import CppTemplates


@dataclass(frozen=True, slots=True)
class Driver:
    """The text of a host function; ``collectives`` are those that it runs, and where it does so first."""

    code: str
    collectives: Mapping[str, ir.Span]


@dataclass(frozen=True, slots=True)
class _Module:
    """What the template of a driver reads."""

    name: str
    created: Sequence[Created]
    domains: Sequence[str]
    body: str


def driver_of(program: ir.Program, function: ir.Function, templates: CppTemplates) -> Driver:
    """The driver that a host function is. Raises DriverError with all that is in the way."""
    emitter = _Emitter(program, function, templates)
    return emitter.emit()


class _Emitter:
    """Emits one host function."""

    def __init__(self, program: ir.Program, function: ir.Function, templates: CppTemplates) -> None:
        self._function = function
        self._state = State(templates, _definitions(function))
        self._scalars = Scalars(self._state, lambda call: self._calls.value(call))
        returned = ReturnedParameters(program.functions.values())
        self._tasks = Tasks(self._state, program, returned, self._scalars.text)
        self._calls = DriverCalls(self._state, self._tasks, self._scalars)

    def emit(self) -> Driver:
        state, function = self._state, self._function
        self._parameters()
        found = Statements(function, state, self._scalars, self._tasks, self._calls)
        found.sequence(function.body, [])
        if found.problems:
            raise DriverError(tuple(found.problems))
        if not state.lines:
            state.line(state.macros.nothing())
        module = _Module(function.name, state.created, state.domains, "\n".join(state.lines))
        return Driver(state.macros.module(module), self._tasks.collectives)

    def _parameters(self) -> None:
        """Tensors are found by key; scalars and extents that the types name get variables."""
        state, macros = self._state, self._state.macros
        for param in self._function.params:
            if isinstance(param.type, ir.TensorType):
                state.keyed(param)
        for param in self._function.params:
            if not isinstance(param.type, ir.TensorType):
                key = state.keys.take(param.name_hint)
                state.line(macros.assign(state.named(param).text, macros.tensor(key)))
        for param in self._function.params:
            shape = param.type.shape if isinstance(param.type, ir.TensorType) else ()
            for axis, extent in enumerate(shape):
                if isinstance(extent, ir.Var) and extent not in state.meanings:
                    tensor = state.meanings[param]
                    assert isinstance(tensor, HostTensor)
                    state.line(macros.assign(state.named(extent).text, macros.extent(tensor.key, axis)))


def _definitions(function: ir.Function) -> dict[ir.Var, ir.Expr]:
    """The scalars that a function computes, by their variables."""
    return {
        stmt.var: stmt.value
        for stmt in statements(function.body)
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.ScalarType)
    }
