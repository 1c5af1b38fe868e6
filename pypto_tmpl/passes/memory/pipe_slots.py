"""The buffers of pipes: in which reserved buffer a tile lies that comes out of one."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.checks.pipes import RESERVE, SETUPS

_BUFFERS = {"aiv": 0, "aic": 1}  # which operand of a setup has the slots of the pipe to a core
_Pipe = tuple[str, int]  # the core that it leads to, and its id


class PipeSlots:
    """The reserved buffers of a function by the pipes whose slots they hold."""

    def __init__(self, function: ir.Function) -> None:
        reserved: set[int] = set()
        self._buffers: dict[_Pipe, ir.Var] = {}
        for stmt in statements(function.body):
            call = call_of(stmt)
            if call is None:
                continue
            if call.op.name == RESERVE and isinstance(stmt, ir.AssignStmt):
                reserved.add(id(stmt.var))
            elif call.op.name in SETUPS:
                for core, at in _BUFFERS.items():
                    buffer = call.args[at] if at < len(call.args) else None
                    if isinstance(buffer, ir.Var) and id(buffer) in reserved:
                        self._buffers[core, _id(call)] = buffer

    def buffer_of(self, pop: ir.Expr) -> ir.Var | None:
        """The buffer out of which a pop takes its slot; None where the kernel has not reserved it."""
        if not isinstance(pop, ir.Call):
            return None
        return self._buffers.get((str(facts.of_value(pop).pipe_to), _id(pop)))


def _id(call: ir.Call) -> int:
    return int(call.kwargs.get("id", 0))
