"""Calls of ops on the host: operands as text, and the macro that the op table names."""

from __future__ import annotations

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.environment import TemplateError
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.streams.call_names import Named, given_operands, keywords_of
from pypto_tmpl.streams.orchestration.creations import Creations
from pypto_tmpl.streams.orchestration.launches import Launches
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.services import Services
from pypto_tmpl.streams.orchestration.spelling import declared_type
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.values import Cpp
from pypto_tmpl.streams.problems import BrokenError, Obstacle


class HostCall:
    """A call as macros see it: ``a`` operands as text, ``raw`` as they are, ``attr`` keywords."""

    def __init__(
        self, entry: OpEntry, call: ir.Call, var: ir.Var | None, stmt: ir.Stmt, calls: HostCalls
    ) -> None:
        given = given_operands(entry, call)
        values = {name: given.get(name) for name in entry.operand_names}
        self.call = call
        self.var = var
        self.stmt = stmt
        self.op = entry.name.rpartition(".")[2]
        self.k = calls.services
        self.raw = Named("c.raw", values)
        self.attr = Named("c.attr", keywords_of(entry, call))
        texts = {name: None if expr is None else calls.text(expr) for name, expr in values.items()}
        self.a = Named("c.a", texts)
        self.out, self.declared = "", ""


class HostCalls:
    """Emits the calls of ops of one orchestration function."""

    def __init__(self, state: State, scalars: Scalars, creations: Creations, launches: Launches) -> None:
        self._state = state
        self._scalars = scalars
        self.services = Services(state, scalars, creations, launches)

    def text(self, expr: ir.Expr) -> Any:
        """An operand as text; a tuple as a list."""
        if isinstance(expr, ir.MakeTuple):
            return [self.text(part) for part in expr.elements]
        if isinstance(expr.type, ir.ScalarType):
            return self._scalars.text(expr)
        return self._state.variable(expr).name

    def emit(self, call: ir.Call, var: ir.Var | None, stmt: ir.Stmt) -> None:
        """The lines of a call; the variable is bound. Raises Obstacle for an op without a form."""
        state = self._state
        entry = state.templates.table.get(call.op.name)
        if entry is None or entry.orchestration is None:
            raise Obstacle(f"Misplaced builtin op {call.op.name}: it has no form on the host", call.span)
        prepared = HostCall(entry, call, var, stmt, self)
        shown = None if entry.returns is None else prepared.raw[entry.returns]
        if var is not None and shown is not None:
            state.bind(var, state.variable(shown))
        elif var is not None and not self.services.binds(entry):
            self._declare(prepared, var)
        try:
            text: str = getattr(state.templates.ops, entry.orchestration)(prepared)
        except TemplateError as error:
            cause = error.__cause__
            if isinstance(cause, Obstacle | BrokenError):
                raise cause from None
            raise
        if text:
            state.line(text)

    def _declare(self, call: HostCall, var: ir.Var) -> None:
        """The name of a result, with its declaration where it is not declared already."""
        if isinstance(var.type, ir.ArrayType):
            call.out = self._state.declare(var)
            size = var.type.extent
            self._state.bind(var, Cpp(call.out, size=size.value if isinstance(size, ir.ConstInt) else 0))
            return
        type_ = declared_type(var.type)
        is_declared = self._state.is_hoisted(var)
        call.out = self._state.declare(var)
        call.declared = call.out if is_declared else f"{type_} {call.out}"
        self._state.bind(var, Cpp(call.out))
