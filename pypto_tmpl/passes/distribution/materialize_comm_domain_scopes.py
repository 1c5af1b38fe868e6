"""Domains: which windows the same devices share."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.domains.device_sets import Devices, Windows, devices_of_buffers
from pypto_tmpl.domains.errors import DomainError
from pypto_tmpl.domains.host import in_loops, is_call_of, is_host
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import evaluated, statements
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_PASS = "MaterializeCommDomainScopes"
_ALL_TO_ALL_V = "pld.tensor.all_to_all_v"


class MaterializeCommDomainScopes(ProgramPass):
    """Put the body of a host orchestrator into a scope for each set of devices that windows are handed to.

    A buffer is allocated on exactly the devices whose dispatches are given a window of it; the signal
    of a collective also where its data is. The types of windows name the buffer.
    """

    __slots__ = ()
    produces = frozenset({IRProperty.CommDomainScopesMaterialized})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        functions = {function.name: function for function in program.functions.values()}
        return build(
            program,
            functions=[
                _scoped(function, functions) if is_host(function) else function
                for function in functions.values()
            ],
        )


def _scoped(function: ir.Function, functions: dict[str, ir.Function]) -> ir.Function:
    windows = Windows(function, functions.values())
    is_scoped = any(isinstance(stmt, ir.CommDomainScopeStmt) for stmt in statements(function.body))
    if is_scoped or not windows.allocations:
        return function
    for stmt, looped in in_loops(function.body):
        if looped and is_call_of(value := evaluated(stmt), _ALL_TO_ALL_V):
            what = (
                f"{_ALL_TO_ALL_V} is not supported inside a for/while loop in a HOST orchestrator:"
                " its rows of one round could arrive while those of the last one are still read"
            )
            raise PassError(what, function, value)
    try:
        devices = devices_of_buffers(function, functions, windows)
    except DomainError as error:
        raise PassError(f"{_PASS}: {error.what}", function, error.node) from None
    slots: dict[Devices, list[ir.WindowBuffer]] = {}
    buffers: dict[int, ir.WindowBuffer] = {}
    viewed = {id(buffer) for buffer in windows.buffers.values()}
    for key, stmt in windows.allocations.items():
        assert isinstance(stmt.value, ir.Call)
        allocation = f"pld.tensor.alloc_window_buffer {stmt.var.name_hint!r}"
        if key not in viewed:
            what = f"{_PASS}: {allocation} has no pld.tensor.window materialisation (dead allocation)"
            raise PassError(what, function, stmt.value)
        if key not in devices:
            raise PassError(
                f"{_PASS}: {allocation} is not consumed by any chip_orch dispatch", function, stmt.value
            )
        buffers[key] = ir.WindowBuffer(stmt.var, stmt.value.args[0], span=stmt.value.span)
        slots.setdefault(devices[key], []).append(buffers[key])
    by_window = {window: buffers[id(buffer)] for window, buffer in windows.buffers.items()}
    function = _Binding(by_window).rewrite(function)
    body = function.body
    for number, (where, held) in reversed(list(enumerate(slots.items()))):
        body = ir.CommDomainScopeStmt(sorted(where.listed), held, f"comm_d{number}", body, held[0].span)
    return build(function, body=body)


class _Binding(Rewriter):
    """Writes the buffer into the type of each window."""

    def __init__(self, buffers: dict[int, ir.WindowBuffer]) -> None:
        super().__init__()
        self._buffers = buffers

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        buffer = self._buffers.get(id(old))
        if buffer is None:
            return typed
        return build(typed, type=build(typed.type, window_buffer=buffer))
