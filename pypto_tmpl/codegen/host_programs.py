"""Programs of several ranks: the function that runs on the host, its windows, and how many ranks it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pypto_tmpl import ir
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.domains.device_sets import Devices, Windows, devices_of_buffers
from pypto_tmpl.domains.errors import DomainError
from pypto_tmpl.domains.host import (
    WORLD_SIZE,
    in_loops,
    is_call_of,
    is_chip_orchestrator,
    is_host,
    is_sub_worker,
)
from pypto_tmpl.ir.bodies import evaluated, statements
from pypto_tmpl.ops import OpEntry, load_table
from pypto_tmpl.ops.returned_parameters import ReturnedParameters

_ALL = Devices(is_all=True)


class HostProgram:
    """What the emitter needs to know of a program with a host orchestrator, None in others."""

    def __init__(self, functions: Mapping[str, ir.Function]) -> None:
        self._functions = functions
        self.function = next((one for one in functions.values() if is_host(one)), None)

    def is_dispatched(self, callee: ir.Function) -> bool:
        """Whether the host hands a function to a rank."""
        return is_chip_orchestrator(callee)

    def is_sub_worker(self, callee: ir.Function) -> bool:
        """Whether a function is Python that runs on the host beside the ranks."""
        return is_sub_worker(callee)

    @lazy
    def returned(self) -> ReturnedParameters:
        """Which of their parameters functions return."""
        return ReturnedParameters(self._functions.values())

    @lazy
    def devices(self) -> Mapping[int, Devices]:
        """The devices of each allocation, by the variable that it is bound to (its id).

        They are those of its domain, where the program states them.
        Raises: DomainError where the dispatches do not tell them.
        """
        assert self.function is not None
        stated = [s for s in statements(self.function.body) if isinstance(s, ir.CommDomainScopeStmt)]
        if stated:
            return {
                id(slot.base): Devices(frozenset(scope.devices)) if scope.devices else _ALL
                for scope in stated
                for slot in scope.slots
            }
        windows = Windows(self.function, self._functions.values())
        return devices_of_buffers(self.function, self._functions, windows)

    def devices_of(self, variable: ir.Var | None) -> tuple[int, ...] | None:
        """The devices of the allocation that a variable is bound to, None for all there are.

        Raises: DomainError.
        """
        found = self.devices.get(id(variable), _ALL)
        return None if found.is_all else tuple(sorted(found.listed))

    def least_ranks(self) -> int:
        """How many ranks the numbers in the program ask for."""
        return max((1, *self._numbers()))

    def _numbers(self) -> Iterator[int]:
        assert self.function is not None
        try:
            for found in self.devices.values():
                yield from (device + 1 for device in found.listed)
        except DomainError:
            return  # which is reported where windows are made
        for stmt, loops in in_loops(self.function.body):
            value = evaluated(stmt)
            if not isinstance(value, ir.Call):
                continue
            if isinstance(root := value.kwargs.get("root"), int):
                yield root + 1
            if isinstance(rank := value.kwargs.get("rank"), int):
                yield rank + 1
            device = value.attrs.get("device")
            if isinstance(device, ir.ConstInt):
                yield device.value + 1
            ends = [loop.stop for loop in loops if isinstance(loop, ir.ForStmt) and loop.loop_var is device]
            yield from (stop.value for stop in ends if isinstance(stop, ir.ConstInt))

    def sharded(self) -> list[ir.Var]:
        """The parameters of which each rank there is gets its own part, by the first axis."""
        assert self.function is not None
        values = {id(s.var): s.value for s in statements(self.function.body) if isinstance(s, ir.AssignStmt)}
        return self._indexed_by(lambda loop: is_call_of(values.get(id(loop.stop), loop.stop), WORLD_SIZE))

    def handed_out(self) -> list[ir.Var]:
        """The parameters of which each rank gets its own part, be it of ranks that the program counts."""
        assert self.function is not None
        values = map(evaluated, statements(self.function.body))
        devices = {id(value.attrs.get("device")) for value in values if isinstance(value, ir.Call)}
        return self._indexed_by(lambda loop: id(loop.loop_var) in devices)

    def _indexed_by(self, is_of_ranks: Callable[[ir.ForStmt], bool]) -> list[ir.Var]:
        """The parameters that the variables of some loops index by the first axis."""
        assert self.function is not None
        params = {id(param): param for param in self.function.params}
        found: dict[int, ir.Var] = {}
        for stmt, loops in in_loops(self.function.body):
            ranks = {
                id(loop.loop_var) for loop in loops if isinstance(loop, ir.ForStmt) and is_of_ranks(loop)
            }
            for node in ir.walk(stmt) if ranks and not isinstance(stmt, ir.ForStmt) else ():
                if isinstance(node, ir.Call) and node.op.name in load_table().matching(_is_window):
                    source, starts = node.args[0], node.args[2]
                    first = starts.elements[0] if isinstance(starts, ir.MakeTuple) else starts
                    if id(source) in params and id(first) in ranks:
                        found[id(source)] = params[id(source)]
        return list(found.values())


def _is_window(entry: OpEntry) -> bool:
    """Whether an op gives a view of a part of its first operand to the host."""
    return {"window", "copied_in_kernels"} <= {*entry.traits}
