"""Whether a tile that a load has cut at the edge of its tensor may be stored as it is.

Such a tile notes, as an object, which cells its tensor had, and a store leaves out the others. What is
computed from it is another object. Scripts in which the two cannot meet have helpers that neither note nor
ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import LAUNCHES, Launch
from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.ops import OpEntry, OpTable

_LOADS = frozenset({"_tile_load", "_tile_slice", "_tensor_slice", "_tensor_window"})  # helpers
_STORES = frozenset({"_tile_store", "_tile_store_add", "_tile_store_block", "_assemble", "_assemble_add"})
_Place = tuple[str, ir.Expr]  # a value in a function


def _may_load(entry: OpEntry) -> bool:
    """Whether an op may load over an edge."""
    return "window" in entry.traits or not _LOADS.isdisjoint(entry.uses)


def _may_store(entry: OpEntry) -> bool:
    """Whether an op writes the cells of some operands into another one."""
    return bool(entry.writes or not _STORES.isdisjoint(entry.uses)) and "makes_value" not in entry.traits


class CutTiles:
    """Follows the values that ops write into others back to the loads that they may come from."""

    def __init__(self, kernels: KernelMap, table: OpTable, is_inside: Callable[[str, ir.Call], bool]) -> None:
        self._kernels, self._table, self._is_inside = kernels, table, is_inside
        self._loading, self._storing = table.matching(_may_load), table.matching(_may_store)

    def any_stored(self) -> bool:
        """Whether an op may write a tile that a load has cut into another value."""
        bodies = self._kernels.facts.items()
        loads = [
            (name, call)
            for name, body in bodies
            if not self._loading.isdisjoint(body.op_names)
            for call in body.calls
            if call.op.name in self._loading
        ]
        if not any(self._loads_cut(name, call) for name, call in loads):
            return False  # what comes out of a pipe is not cut either
        pending: list[_Place] = [
            (name, arg)
            for name, body in bodies
            if not self._storing.isdisjoint(body.op_names)
            for call in body.calls
            if call.op.name in self._storing
            for arg in self._written_sources(call)
        ]
        seen: set[int] = set()
        while pending:
            name, value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, LAUNCHES):
                if self._is_source(name, value):
                    return True
                pending += self._given_back(name, value)
            elif isinstance(value, ir.Var):
                pending += [(name, other) for other in self._kernels.facts[name].values.get(id(value), ())]
                pending += self._arguments.get(id(value), ())
            elif isinstance(value, ir.TupleGetItemExpr):
                pending.append((name, value.tuple))
            elif isinstance(value, ir.MakeTuple):
                pending += [(name, element) for element in value.elements]
        return False

    @lazy
    def _arguments(self) -> dict[int, list[_Place]]:
        """What the parameters of functions are given, by the identity of the parameter."""
        found: dict[int, list[_Place]] = {}
        for name, body in self._kernels.facts.items():
            for launch in body.function_calls:
                callee = self._kernels.callee(launch)
                for param, arg in zip(callee.params, launch.args, strict=False) if callee else ():
                    found.setdefault(id(param), []).append((name, arg))
        return found

    def _is_source(self, function: str, call: Launch) -> bool:
        """Whether a call itself gives such a tile: it takes one from a pipe, or loads over an edge."""
        if self._kernels.callee(call) is not None:
            return False
        return self._table.facts(call.op.name).pipe_end == "pop" or self._loads_cut(function, call)

    def _loads_cut(self, function: str, call: Launch) -> bool:
        if (
            call.op.name not in self._loading
            or isinstance(call.op, ir.GlobalVar)
            or not isinstance(call, ir.Call)
        ):
            return False
        return not self._table.facts(call.op.name).has("window") or not self._is_inside(function, call)

    def _given_back(self, function: str, call: Launch) -> Iterable[_Place]:
        """The values that a call may give back as they are."""
        callee = self._kernels.callee(call)
        if callee is not None:
            for stmt in self._kernels.facts[callee.name].returns:
                yield from ((callee.name, value) for value in stmt.value)
        entry = None if callee is not None else self._table.get(call.op.name)
        if entry is None or entry.returns is not None or "makes_value" not in entry.traits:
            yield from ((function, arg) for arg in call.args)

    def _written_sources(self, call: ir.Call) -> list[ir.Expr]:
        """The operands whose cells an op writes into another one."""
        entry = self._table[call.op.name]
        named = zip(entry.operand_names, call.args, strict=False)
        return [arg for name, arg in named if name not in entry.writes]
