"""One orchestration function as a C++ translation unit, and what the run time is to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import ParamDirection
from pypto_tmpl.ops.returned_parameters import ReturnedParameters
from pypto_tmpl.streams.orchestration.calls import HostCalls
from pypto_tmpl.streams.orchestration.creations import Creations
from pypto_tmpl.streams.orchestration.dispatch import Dispatches, pipe_buffers
from pypto_tmpl.streams.orchestration.expressions import variables_of
from pypto_tmpl.streams.orchestration.launches import Launches
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.spelling import declared_type
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.statements import Statements
from pypto_tmpl.streams.orchestration.values import Cpp, Kernel
from pypto_tmpl.streams.problems import Obstacle, OrchestrationError
from pypto_tmpl.streams.templates import CppTemplates

_SIGNATURE = {ParamDirection.In: "IN", ParamDirection.Out: "OUT", ParamDirection.InOut: "INOUT"}


@dataclass(frozen=True, slots=True)
class Orchestration:
    """The text of an orchestration function, its kernels by number, and the directions of its tensors."""

    name: str
    code: str
    kernels: tuple[Kernel, ...]
    signature: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A scalar of the caller."""

    name: str
    type: str
    is_context: bool


@dataclass(frozen=True, slots=True)
class _Symbol:
    """An extent of a tensor of the caller."""

    name: str
    tensor: int
    axis: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """What the template of a translation unit reads."""

    name: str
    tensors: list[str]
    scalars: list[_Scalar]
    symbols: list[_Symbol]
    body: str


def orchestration_of(
    program: ir.Program, function: ir.Function, backend: BackendType, templates: CppTemplates
) -> Orchestration:
    """The translation unit of an orchestration function. Raises OrchestrationError with what is in the way.

    Names that a scope of the IR leaves visible, but a block of C++ does not, are declared further out, for
    which the function is emitted again.
    """
    hoists: dict[ir.Var, int] = {}
    while True:
        emitter = _Emitter(program, function, backend, templates, hoists)
        found = emitter.emit()
        if not emitter.escaped:
            return found
        levels = {var: hoists.get(var, 0) + 1 for var in emitter.escaped}
        if max(levels.values()) > _depth(function):
            what = "a name is read outside of the loop or branch that it belongs to"
            lost = [Unsupported(what, function.name, var.name_hint, var.span) for var in levels]
            raise OrchestrationError(tuple(lost))
        hoists |= levels


class _Emitter:
    """Emits one function once."""

    def __init__(
        self,
        program: ir.Program,
        function: ir.Function,
        backend: BackendType,
        templates: CppTemplates,
        hoists: Mapping[ir.Var, int],
    ) -> None:
        returned = ReturnedParameters(program.functions.values())
        dispatches = Dispatches(program, returned)
        self._function = function
        self._state = State(function, facts_of(backend), templates, hoists)
        scalars = Scalars(self._state)
        buffers = pipe_buffers(function, dispatches)
        creations = Creations(self._state, scalars, buffers)
        self._launches = Launches(self._state, scalars, dispatches, returned)
        calls = HostCalls(self._state, scalars, creations, self._launches)
        self._statements = Statements(self._state, scalars, creations, self._launches, calls, _read(function))

    @property
    def escaped(self) -> set[ir.Var]:
        """The variables that have to be declared further out."""
        return self._state.escaped

    def emit(self) -> Orchestration:
        """The whole unit; of no use where variables have ``escaped``."""
        state, function = self._state, self._function
        try:
            scalars = self._parameters()
        except Obstacle as obstacle:
            problem = Unsupported(obstacle.what, function.name, "", obstacle.span or function.span)
            raise OrchestrationError((problem,)) from None
        self._statements.sequence(function.body, [])
        if self._statements.problems:
            raise OrchestrationError(tuple(self._statements.problems))
        symbols = [_Symbol(*source) for source in state.symbol_sources()]
        unit = _Unit(function.name, list(state.tensors), scalars, symbols, "\n".join(state.lines))
        directions = zip(function.params, function.param_directions, strict=True)
        return Orchestration(
            function.name,
            state.templates.file.unit(unit),
            tuple(self._launches.kernels.values()),
            tuple(_SIGNATURE[way] for param, way in directions if isinstance(param.type, ir.TensorType)),
        )

    def _parameters(self) -> list[_Scalar]:
        """Name the tensors and scalars of the caller."""
        state = self._state
        scalars: list[_Scalar] = []
        for param in self._function.params:
            if isinstance(param.type, ir.TensorType):
                own = state.names.take_base(param.name_hint)
                name = state.templates.values.caller_tensor(own)
                state.tensors[name] = own
            else:
                name = state.names.take(param.name_hint)
                scalars.append(
                    _Scalar(name, declared_type(param.type), isinstance(param.type, ir.CommCtxType))
                )
                state.declare_in_block(name, param)
            state.bind(param, Cpp(name))
        return scalars


def _read(function: ir.Function) -> frozenset[ir.Var]:
    """The variables that something in a function reads, but for what it returns."""
    found: set[ir.Var] = set()
    for stmt in statements(function.body):
        exprs: list[ir.Expr] = []
        if isinstance(stmt, ir.AssignStmt):
            exprs = [stmt.value]
        elif isinstance(stmt, ir.EvalStmt):
            exprs = [stmt.expr]
        elif isinstance(stmt, ir.YieldStmt):
            exprs = [*stmt.value]
        elif isinstance(stmt, ir.ForStmt):
            exprs = [stmt.start, stmt.stop, stmt.step]
        elif isinstance(stmt, ir.WhileStmt | ir.IfStmt):
            exprs = [stmt.condition]
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            exprs += [arg.initValue for arg in stmt.iter_args]
        for expr in exprs:
            found.update(variables_of(expr))
    return frozenset(found)


def _depth(function: ir.Function) -> int:
    """More than the number of scopes that may stand in each other."""
    return 1 + sum(isinstance(stmt, ir.RuntimeScopeStmt) for stmt in statements(function.body))
