"""What a pass is: a function from programs to programs, with a name and a record of properties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.properties import IRPropertySet, PassProperties
from pypto_tmpl.rewrite import build


class PassError(PyptoTmplError, ValueError):
    """A pass met what it cannot do; says in which function, of which variable, and at which line.

    ``function`` and ``variable`` are names and ``line`` is a number; empty and 0 where there is none.
    """

    slug = "pass"

    def __init__(
        self,
        what: str,
        function: ir.Function | None = None,
        node: ir.IRNode | None = None,
        variable: ir.IRNode | None = None,
    ) -> None:
        """``node`` stands at the line; without ``variable`` it tells the variable, too."""
        self.function = function.name if function is not None else ""
        self.variable = _variable_of(node if variable is None else variable)
        span = node.span if node is not None and node.span.is_valid() else None
        self.line = span.begin_line if span is not None else 0
        places = [f"in function {self.function!r}"] if self.function else []
        places += [f"variable {self.variable!r}"] if self.variable else []
        notes = [", ".join(places)] if places else []
        super().__init__(what, where=str(span) if span is not None else "", notes=notes)


def _variable_of(node: ir.IRNode | None) -> str:
    """The name of a variable, of the one that a statement assigns, or of the first that is given to an op."""
    value = node.expr if isinstance(node, ir.EvalStmt) else node
    operands = value.args if isinstance(value, ir.Call | ir.Submit) else ()
    var = node.var if isinstance(node, ir.AssignStmt) else node
    return next((one.name_hint for one in (var, *operands) if isinstance(one, ir.Var)), "")


class NoBackendError(PassError):
    """What a pass does depends on the backend, and none is chosen."""


class Pass(ABC):
    """A pass; calling it transforms a program. What a pass leaves alone is the same object afterwards.

    Subclasses are frozen dataclasses whose fields are the options of the pass, named as in dump files.
    """

    __slots__ = ()
    requires: ClassVar[frozenset[IRProperty]] = frozenset()
    produces: ClassVar[frozenset[IRProperty]] = frozenset()
    invalidates: ClassVar[frozenset[IRProperty]] = frozenset()

    def __init_subclass__(cls) -> None:
        for name in ("requires", "produces", "invalidates"):
            given = vars(cls).get(name, frozenset())
            wrong = (
                [given]
                if isinstance(given, str)
                else [one for one in given if not isinstance(one, IRProperty)]
            )
            if wrong:
                known = f"; IRProperty.{wrong[0]}" if wrong[0] in IRProperty.__members__ else ""
                raise TypeError(f"{cls.__name__}.{name} is a set of IRProperty, {wrong[0]!r} is none{known}")

    @abstractmethod
    def transform(self, program: ir.Program, context: PassContext) -> ir.Program:
        """The program after the pass."""

    def __call__(self, program: ir.Program) -> ir.Program:
        """Transform a program, under the instruments of the context."""
        if not isinstance(program, ir.Program):
            raise TypeError(f"{self.get_name()} takes an ir.Program, got {type(program).__name__}")
        context = PassContext.current() or PassContext()
        for instrument in context.get_instruments():
            instrument.before_pass(self, program)
        result = self.transform(program, context)
        if not isinstance(result, ir.Program):
            raise TypeError(f"{self.get_name()} gives an ir.Program, got {result!r}")
        for instrument in context.get_instruments():
            instrument.after_pass(self, result)
        return result

    def get_name(self) -> str:
        """The name of the pass, as in dump files."""
        return type(self).__name__

    @property
    def properties(self) -> PassProperties:
        """What the pass needs, makes, and may spoil."""
        return PassProperties(*map(IRPropertySet, (self.requires, self.produces, self.invalidates)))

    def get_required_properties(self) -> IRPropertySet:
        """What the pass needs of a program."""
        return self.properties.required

    def get_produced_properties(self) -> IRPropertySet:
        """What holds after the pass."""
        return self.properties.produced

    def get_invalidated_properties(self) -> IRPropertySet:
        """What may hold no longer after the pass."""
        return self.properties.invalidated


class ProgramPass(Pass):
    """A pass over a program as a whole."""

    __slots__ = ()

    @abstractmethod
    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        """The program after the pass."""

    def transform(self, program: ir.Program, context: PassContext) -> ir.Program:
        return self.run(program, context)


class FunctionPass(Pass):
    """A pass over each function by itself."""

    __slots__ = ()

    @abstractmethod
    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        """The function after the pass."""

    def transform(self, program: ir.Program, context: PassContext) -> ir.Program:
        functions = [self.run(function, context) for function in program.functions.values()]
        for before, after in zip(program.functions.values(), functions, strict=True):
            if not isinstance(after, ir.Function):
                raise TypeError(f"{self.get_name()} makes an ir.Function of {before.name!r}, got {after!r}")
        return build(program, functions=functions)


@dataclass(frozen=True, slots=True)
class _Given:
    """The name and the properties of a pass that a user made of a Python function."""

    name: str
    given: PassProperties

    def get_name(self) -> str:
        return self.name

    @property
    def properties(self) -> PassProperties:
        return self.given


@dataclass(frozen=True, slots=True)
class _GivenFunctionPass(_Given, FunctionPass):
    change: Callable[[ir.Function], ir.Function]

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return self.change(function)


@dataclass(frozen=True, slots=True)
class _GivenProgramPass(_Given, ProgramPass):
    change: Callable[[ir.Program], ir.Program]

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        return self.change(program)


_NOTHING_SAID = PassProperties()


def create_function_pass(
    transform: Callable[[ir.Function], ir.Function],
    name: str = "",
    properties: PassProperties = _NOTHING_SAID,
) -> Pass:
    """A pass that calls a Python function on each function of a program."""
    return _GivenFunctionPass(_name_of(transform, name), properties, transform)


def create_program_pass(
    transform: Callable[[ir.Program], ir.Program],
    name: str = "",
    properties: PassProperties = _NOTHING_SAID,
) -> Pass:
    """A pass that calls a Python function on a program."""
    return _GivenProgramPass(_name_of(transform, name), properties, transform)


def _name_of(transform: Callable[..., object], name: str) -> str:
    return name or getattr(transform, "__name__", type(transform).__name__)
