"""Whether a tile that a load has cut at the edge of its tensor may be stored as it is.

Such a tile notes, as an object, which cells its tensor had, and a store leaves out the others. What is
computed from it is another object. Scripts in which the two cannot meet have helpers that neither note nor
ask.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch
from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.ops import OpTable

_LOADS = frozenset({"_tile_load", "_tile_slice", "_tensor_slice", "_tensor_window"})  # helpers
_STORES = frozenset({"_tile_store", "_tile_store_add", "_tile_store_block", "_assemble", "_assemble_add"})


class CutTiles:
    """The variables of a program that may hold a tile which a load has cut."""

    def __init__(self, kernels: KernelMap, table: OpTable, is_inside: Callable[[str, ir.Call], bool]) -> None:
        self._kernels, self._table, self._is_inside = kernels, table, is_inside
        self._cut: set[int] = set()
        self._returning: set[str] = set()  # functions that may return one
        bodies = self._kernels.facts.items()
        has_any = any(self._loads_cut(name, call) for name, body in bodies for call in body.calls)
        while has_any and self._grow():
            pass

    def any_stored(self) -> bool:
        """Whether an op may write such a tile into another value."""
        return any(
            self._holds(name, arg)
            for name, body in self._kernels.facts.items()
            for call in body.calls
            for arg in self._written_sources(call)
        )

    def _grow(self) -> bool:
        """Follow all values one step; whether more variables were found to hold one."""
        before = len(self._cut) + len(self._returning)
        for name, body in self._kernels.facts.items():
            self._cut |= {id(target) for target, value in body.flows if self._holds(name, value)}
            for launch in body.launches:
                callee = self._kernels.callee(launch)
                if callee is not None:
                    pairs = zip(callee.params, launch.args, strict=False)
                    self._cut |= {id(param) for param, arg in pairs if self._holds(name, arg)}
            if any(self._holds(name, value) for stmt in body.returns for value in stmt.value):
                self._returning.add(name)
        return len(self._cut) + len(self._returning) > before

    def _holds(self, function: str, value: ir.Expr) -> bool:
        if isinstance(value, ir.Var):
            return id(value) in self._cut
        if isinstance(value, ir.TupleGetItemExpr):
            return self._holds(function, value.tuple)
        if isinstance(value, ir.MakeTuple):
            return any(self._holds(function, element) for element in value.elements)
        return isinstance(value, Launch) and self._makes(function, value)

    def _makes(self, function: str, call: Launch) -> bool:
        """Whether a call may give such a tile: a new one, or one that it was given."""
        callee = self._kernels.callee(call)
        if callee is not None:
            return callee.name in self._returning or any(self._holds(function, arg) for arg in call.args)
        if self._table.facts(call.op.name).pipe_end == "pop" or self._loads_cut(function, call):
            return True
        entry = self._table.get(call.op.name)
        if entry is not None and entry.returns is None and "makes_value" in entry.traits:
            return False
        return any(self._holds(function, arg) for arg in call.args)

    def _loads_cut(self, function: str, call: Launch) -> bool:
        entry = None if isinstance(call.op, ir.GlobalVar) else self._table.get(call.op.name)
        if entry is None or not isinstance(call, ir.Call):
            return False
        if self._table.facts(entry.name).has("window"):
            return not self._is_inside(function, call)
        return not _LOADS.isdisjoint(entry.uses)

    def _written_sources(self, call: ir.Call) -> list[ir.Expr]:
        """The operands whose cells an op writes into another one."""
        entry = self._table.get(call.op.name)
        if entry is None or (_STORES.isdisjoint(entry.uses) and not entry.writes):
            return []
        if "makes_value" in entry.traits:
            return []
        named = zip(entry.operand_names, call.args, strict=False)
        return [arg for name, arg in named if name not in entry.writes]
