"""Functions that run beside each other, on the cores of a group."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.outline.dataflow import Callees, Origins
from pypto_tmpl.passes.pipelining.memory import Memory, call_of


class Peers:
    """Which functions run beside which, and the tensors that one of them writes and another one uses."""

    def __init__(self, program: ir.Program) -> None:
        self._functions = {function.name: function for function in program.functions.values()}
        self._callees = Callees(self._functions.values())
        self._beside: dict[str, list[tuple[ir.Call | ir.Submit, ir.Call | ir.Submit, Origins]]] = {}
        self._used: dict[str, dict[int, bool]] = {}
        for function in self._functions.values():
            if function.func_type is ir.FunctionType.Group:
                self._note(function)

    def of(self, function: ir.Function) -> list[ir.Function]:
        """The functions that run beside one."""
        return [self._functions[other.op.name] for _, other, _ in self._beside.get(function.name, [])]

    def contended(self, function: ir.Function) -> Iterator[ir.Var]:
        """The parameters of a function that it, or one beside it, writes and both use."""
        mine = self._uses(function)
        for own, other, origins in self._beside.get(function.name, []):
            peer = self._functions[other.op.name]
            others = self._uses(peer)
            passed = {
                id(origins.of(arg)): others[id(param)]
                for param, arg in zip(peer.params, other.args, strict=False)
                if id(param) in others and isinstance(arg, ir.Var)
            }
            for param, arg in zip(function.params, own.args, strict=False):
                if id(param) in mine and isinstance(arg, ir.Var):
                    root = id(origins.of(arg))
                    if root in passed and (mine[id(param)] or passed[root]):
                        yield param

    def _note(self, group: ir.Function) -> None:
        calls = [
            call
            for stmt in statements(group.body)
            if (call := call_of(stmt)) is not None and call.op.name in self._functions
        ]
        origins = Origins(group.body, self._callees)
        for own, other in permutations(calls, 2):
            self._beside.setdefault(own.op.name, []).append((own, other, origins))

    def _uses(self, function: ir.Function) -> dict[int, bool]:
        """The tensors among the parameters (ids) that a function uses, and whether it writes them."""
        if function.name not in self._used:
            memory = Memory(function, self._callees)
            found: dict[int, bool] = {}
            for touch in memory.touches(function.body):
                found[touch.storage] = found.get(touch.storage, False) or touch.writes
            self._used[function.name] = {
                id(param): found[memory.storage(param)]
                for param in function.params
                if memory.storage(param) in found and isinstance(param.type, ir.TensorType)
            }
        return self._used[function.name]
