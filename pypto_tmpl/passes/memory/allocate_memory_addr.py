"""Addresses: where in the memory of its core each allocation begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.overlaying import Overlaying
from pypto_tmpl.passes.memory.placed_tiles import (
    aligned,
    allocations,
    is_pinned,
    placed,
    size_of,
    space_of,
)
from pypto_tmpl.passes.memory.placing import Placing
from pypto_tmpl.passes.memory.reserved import Reserved
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.rewrite import build


class AllocateMemoryAddr(FunctionPass):
    """Place the allocations of each memory one behind the other, by name, behind what pipes have reserved.

    The planner DSA_RP, with which no allocations have been joined before, lays those across each other that
    are in use at different times. A tile's offset becomes its address. Errors: buffers that the user has
    placed across each other or off the alignment, and memories that are too small.
    """

    __slots__ = ()
    requires = frozenset(
        {IRProperty.SplitIncoreOrch, IRProperty.IncoreTileOps, IRProperty.HasMemRefs, IRProperty.TileOps2D}
    )
    produces = frozenset({IRProperty.AllocatedMemoryAddr})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not is_incore_type(function.func_type):
            return function
        reserved = Reserved(function, context.backend)
        reserved.check()
        layout = _Layout(function, context.backend, reserved)
        if context.get_memory_planner() is MemoryPlanner.DSA_RP:
            layout.overlay(Overlaying(function))
        layout.check()
        plan = {id(var): layout.address(memref) for var, memref, _ in placed(function)}
        return _Addressing(plan, reserved).rewrite(function)


@dataclass(slots=True)
class _Slot:
    """An allocation: its variable, its memory, its bytes, and a tile that lies in it."""

    base: ir.Var
    space: ir.MemorySpace
    tile: ir.Var
    size: int
    is_pinned: bool
    start: int = field(default=0)


class _Layout:
    """Where the allocations of a function begin."""

    def __init__(self, function: ir.Function, backend: BackendFacts | None, reserved: Reserved) -> None:
        self._function, self._backend, self._reserved = function, backend, reserved
        self._slots: dict[int, _Slot] = {}
        calls = {base: call for base, (_, call) in allocations(function).items()}
        for var, memref, _ in placed(function):
            base = memref.base_
            call = calls.get(id(base))
            declared = size_of(call) if call is not None and is_pinned(call) else 0
            slot = self._slots.setdefault(
                id(base), _Slot(base, space_of(var), var, declared, call is not None and is_pinned(call))
            )
            slot.size = max(slot.size, memref.size_)
        self._ends = self._line_up(self._slots.values())

    def _line_up(self, slots: Iterable[_Slot]) -> dict[ir.MemorySpace, int]:
        """Place allocations one behind the other; where they end, by memory."""
        ends = {self._reserved.space: self._reserved.end}
        for slot in sorted(slots, key=lambda slot: slot.base.name_hint):
            slot.start = ends.get(slot.space, 0)
            ends[slot.space] = aligned(slot.start + slot.size)
        return ends

    def overlay(self, overlaying: Overlaying) -> None:
        """Lay allocations across each other, behind what the program has declared, as far as values allow."""
        free = {base: slot for base, slot in self._slots.items() if self._is_free(base, slot, overlaying)}
        ends = self._line_up(slot for base, slot in self._slots.items() if base not in free)
        for space in dict.fromkeys(slot.space for slot in free.values()):
            own = {base: slot.size for base, slot in free.items() if slot.space is space}
            limit = None if self._backend is None else self._backend.capacity(space)
            starts = overlaying.starts(own, ends.get(space, 0), limit)
            for base, start in starts.items():
                free[base].start = start
            ends[space] = max(aligned(start + own[base]) for base, start in starts.items())
        self._ends = ends

    @staticmethod
    def _is_free(base: int, slot: _Slot, overlaying: Overlaying) -> bool:
        return not slot.is_pinned and base in overlaying.groups

    def address(self, memref: ir.MemRef) -> ir.MemRef:
        """A range of an allocation as one of the memory that this lies in.

        Which slot of a declared buffer it is, the run tells. Another offset that only the run
        knows is left out: who reads the view computes it again from its call.
        """
        slot, old = self._slots[id(memref.base_)], memref.byte_offset_
        start = slot.start + (old.value if isinstance(old, ir.ConstInt) else 0)
        if isinstance(old, ir.ConstInt) or not slot.is_pinned:
            return build(memref, byte_offset_=ir.ConstInt(start, ir.DataType.INT64, memref.span))
        moved = ir.add(ir.ConstInt(start, ir.DataType.INDEX, memref.span), old, memref.span) if start else old
        return build(memref, byte_offset_=moved)

    def check(self) -> None:
        """Raise PassError where a memory is too small."""
        for space, end in self._ends.items():
            limit = None if self._backend is None else self._backend.capacity(space)
            if limit is None or end <= limit:
                continue
            own = [slot for slot in self._slots.values() if slot.space is space]
            past = min((slot for slot in own if slot.start + slot.size > limit), key=lambda s: s.start)
            what = f"{space.name} buffer usage ({end} bytes) exceeds platform limit ({limit} bytes)"
            which = f"{past.base.name_hint!r} with {past.tile.name_hint!r}, {past.size} bytes at {past.start}"
            raise PassError(f"{what}: the first that does not fit is {which}", self._function, past.tile)


class _Addressing(Placing):
    def __init__(self, plan: dict[int, ir.MemRef], reserved: Reserved) -> None:
        super().__init__(plan)
        self._reserved = reserved

    def expression(self, expr: ir.Expr) -> ir.Expr:
        start = self._reserved.given.get(id(expr))
        if start is None or not isinstance(expr, ir.Call):
            return expr
        return build(expr, kwargs=expr.kwargs.with_(base=start))
