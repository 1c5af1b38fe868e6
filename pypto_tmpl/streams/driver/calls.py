"""Calls of ops in the driver: operands by name, and the macro that the op table names."""

from __future__ import annotations

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.environment import TemplateError
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.streams.call_names import Named, given_operands, keywords_of
from pypto_tmpl.streams.driver.scalars import Scalars
from pypto_tmpl.streams.driver.services import Services
from pypto_tmpl.streams.driver.state import State
from pypto_tmpl.streams.driver.tasks import Tasks
from pypto_tmpl.streams.problems import BrokenError, Obstacle


class DriverCall:
    """A call as macros see it: ``raw`` operands as they are in the IR, ``attr`` keywords, ``k`` what else."""

    def __init__(self, entry: OpEntry, call: ir.Call, var: ir.Var | None, services: Services) -> None:
        given = given_operands(entry, call)
        self.call = call
        self.var = var
        self.op = entry.name
        self.k = services
        self.raw = Named("c.raw", {name: given.get(name) for name in entry.operand_names})
        self.attr = Named("c.attr", keywords_of(entry, call))


class DriverCalls:
    """Emits the calls of ops of one host function."""

    def __init__(self, state: State, tasks: Tasks, scalars: Scalars) -> None:
        self._state = state
        self._services = Services(state, scalars, tasks)

    def emit(self, call: ir.Call, var: ir.Var | None) -> None:
        """The lines of a call; the variable is bound. Raises Obstacle for an op without a form."""
        state = self._state
        entry, text = self._made(call, var)
        shown = None if entry.returns is None else given_operands(entry, call)[entry.returns]
        if var is None or shown is not None:
            if text:
                state.line(text)
            if var is not None and shown is not None:
                state.bind(var, state.meaning(shown))
        elif isinstance(var.type, ir.ScalarType):
            state.line(state.macros.assign(state.named(var).text, text))
        elif var not in state.meanings:
            state.line(state.macros.set_tensor(state.keyed(var).key, text))

    def value(self, call: ir.Call) -> str:
        """A call within an expression."""
        return self._made(call, None)[1]

    def _made(self, call: ir.Call, var: ir.Var | None) -> tuple[OpEntry, str]:
        templates = self._state.templates
        entry = templates.table.get(call.op.name)
        if entry is None or entry.driver is None:
            raise Obstacle(f"{call.op.name} has no form in the driver of several chips", call.span)
        try:
            made: Any = getattr(templates.driver_ops, entry.driver)(
                DriverCall(entry, call, var, self._services)
            )
        except TemplateError as error:
            cause = error.__cause__
            if isinstance(cause, Obstacle | BrokenError):
                raise cause from None
            raise
        return entry, str(made)
