"""The devices on which the windows of a host orchestrator are needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.domains.errors import DomainError
from pypto_tmpl.domains.host import (
    ALLOCATION,
    WINDOW,
    WORLD_SIZE,
    Loops,
    collective_of,
    in_loops,
    is_call_of,
    is_chip_orchestrator,
)
from pypto_tmpl.ir.bodies import evaluated, statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops.returned_parameters import ReturnedParameters, Versions


class Devices(NamedTuple):
    """Some devices by number, or all there are."""

    listed: frozenset[int] = frozenset()
    is_all: bool = False

    def union(self, other: Devices) -> Devices:
        """The devices of both; all of them are no list."""
        if self.is_all or other.is_all:
            return Devices(is_all=True)
        return Devices(self.listed | other.listed)


class Windows:
    """The windows of a host orchestrator and the allocation behind each, through what calls make of them."""

    def __init__(self, function: ir.Function, functions: Iterable[ir.Function]) -> None:
        assigned = [stmt for stmt in statements(function.body) if isinstance(stmt, ir.AssignStmt)]
        values = {id(stmt.var): stmt.value for stmt in assigned}
        self.allocations = {id(s.var): s for s in assigned if is_call_of(s.value, ALLOCATION)}
        self.buffers: dict[int, ir.Var] = {}  # by window
        self._windows: dict[int, ir.Var] = {}
        for stmt in assigned:
            if isinstance(stmt.value, ir.Call) and is_call_of(stmt.value, WINDOW):
                buffer = stmt.value.args[0]
                while isinstance(buffer, ir.Var) and isinstance(before := values.get(id(buffer)), ir.Var):
                    buffer = before
                if isinstance(buffer, ir.Var) and id(buffer) in self.allocations:
                    self.buffers[id(stmt.var)] = buffer
                    self._windows[id(stmt.var)] = stmt.var
        returned = ReturnedParameters(functions)
        self._versions = Versions(function, returned, through_views=True)

    def window_of(self, value: ir.Expr) -> ir.Var | None:
        """The window that a tensor is; None for a tensor of the host, or where it may be one or another."""
        origin = self._versions.origin(value)
        return self._windows.get(id(origin)) if origin is not None else None

    def buffer_of(self, value: ir.Expr) -> ir.Var | None:
        """The allocation behind a tensor; None where its window is not known."""
        window = self.window_of(value)
        return None if window is None else self.buffers[id(window)]


def devices_of_buffers(
    function: ir.Function, functions: Mapping[str, ir.Function], windows: Windows
) -> dict[int, Devices]:
    """For each allocation (id) the devices that are given a window of it.

    Raises: DomainError for a dispatch of which the device, or the allocation of a window, is not known.
    """
    found: dict[int, Devices] = {}
    values = {id(s.var): s.value for s in statements(function.body) if isinstance(s, ir.AssignStmt)}
    collectives: list[ir.Call] = []
    for stmt, loops in in_loops(function.body):
        value = evaluated(stmt)
        known = collective_of(value)
        if known is not None and isinstance(value, ir.Call):
            collectives.append(value)
        if not isinstance(value, ir.Call | ir.Submit) or not isinstance(value.op, ir.GlobalVar):
            continue
        if not is_chip_orchestrator(functions.get(value.op.name)):
            continue
        buffers = [_buffer(value, arg, windows) for arg in value.args if _is_window(arg)]
        if buffers:
            devices = _devices(value, loops, values)
            for buffer in buffers:
                found[id(buffer)] = found.get(id(buffer), Devices()).union(devices)
    for call in collectives:
        known = collective_of(call)
        data = windows.buffer_of(call.args[known.data]) if known is not None else None
        if known is not None and data is not None and id(data) in found:
            for place in known.followers:
                other = windows.buffer_of(call.args[place]) if place < len(call.args) else None
                if other is not None:
                    found[id(other)] = found.get(id(other), Devices()).union(found[id(data)])
    return {key: devices for key, devices in found.items() if devices != Devices()}


def _is_window(value: ir.Expr) -> bool:
    return isinstance(value.type, ir.DistributedTensorType)


def _buffer(call: ir.Call | ir.Submit, arg: ir.Expr, windows: Windows) -> ir.Var:
    buffer = windows.buffer_of(arg)
    if buffer is None:
        name = repr(arg.name_hint) if isinstance(arg, ir.Var) else "an argument"
        what = f"{name}, given to {call.op.name!r}, is not known to be a window of one allocation"
        raise DomainError(what, call)
    return buffer


def _devices(
    call: ir.Call | ir.Submit,
    loops: Loops,
    values: Mapping[int, ir.Expr],
) -> Devices:
    """The devices that a dispatch runs on, one in each round of the loops around it."""

    def error(what: str) -> DomainError:
        return DomainError(f"{what} (dispatch of {call.op.name!r})", call)

    device = call.attrs.get("device")
    if isinstance(device, ir.ConstInt):
        if device.value < 0:
            raise error(f"device= ConstInt must be non-negative, got {device.value}")
        return Devices(frozenset({device.value}))
    if device is None:
        raise error("windows are given to a dispatch without device=")
    if not isinstance(device, ir.Var):
        raise error("device= expression must be ConstInt or the induction var of pl.range")
    loop = next((loop for loop in loops if isinstance(loop, ir.ForStmt) and loop.loop_var is device), None)
    if loop is None:
        what = (
            f"device= Var is not the induction variable of any enclosing pl.range loop: {device.name_hint!r}"
        )
        raise error(what)
    step = _constant(loop.step, values)
    if step != 1:
        raise error(f"non-unit-step loop is not supported (step={'dynamic' if step is None else step})")
    if is_call_of(_value(loop.stop, values), WORLD_SIZE):
        return Devices(is_all=True)
    start, stop = _constant(loop.start, values), _constant(loop.stop, values)
    if start is None or stop is None:
        raise error(f"device={device.name_hint} loop bound must be ConstInt or pld.system.world_size()")
    if start < 0:
        raise error(f"device= ConstInt must be non-negative, got {start}")
    return Devices(frozenset(range(start, stop)))


def _value(expr: ir.Expr, values: Mapping[int, ir.Expr]) -> ir.Expr:
    """What an expression was assigned from, through names."""
    while isinstance(expr, ir.Var) and id(expr) in values:
        expr = values[id(expr)]
    return expr


def _constant(expr: ir.Expr, values: Mapping[int, ir.Expr]) -> int | None:
    return constant_extent(_value(expr, values))
