"""Addresses: where in the memory of its core each allocation begins."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
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
from pypto_tmpl.rewrite import build


class AllocateMemoryAddr(FunctionPass):
    """Place the allocations of each memory one behind the other, by name, behind what pipes have reserved.

    A tile's offset becomes its address. Errors: buffers that the user has placed across each other or off the
    alignment, and memories that are too small.
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
        layout = _Layout(function, context.backend, reserved)
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
        ends = {reserved.space: reserved.end}
        for slot in sorted(self._slots.values(), key=lambda slot: slot.base.name_hint):
            slot.start = ends.get(slot.space, 0)
            ends[slot.space] = aligned(slot.start + slot.size)
        self._check(function, backend, ends)

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

    def _check(
        self, function: ir.Function, backend: BackendFacts | None, ends: dict[ir.MemorySpace, int]
    ) -> None:
        for space, end in ends.items():
            limit = None if backend is None else backend.capacity(space)
            if limit is None or end <= limit:
                continue
            own = [slot for slot in self._slots.values() if slot.space is space]
            past = min((slot for slot in own if slot.start + slot.size > limit), key=lambda s: s.start)
            what = f"{space.name} buffer usage ({end} bytes) exceeds platform limit ({limit} bytes)"
            which = f"{past.base.name_hint!r} with {past.tile.name_hint!r}, {past.size} bytes at {past.start}"
            raise PassError(f"{what}: the first that does not fit is {which}", function, past.tile)


class _Addressing(Placing):
    def __init__(self, plan: dict[int, ir.MemRef], reserved: Reserved) -> None:
        super().__init__(plan)
        self._reserved = reserved

    def expression(self, expr: ir.Expr) -> ir.Expr:
        start = self._reserved.given.get(id(expr))
        if start is None or not isinstance(expr, ir.Call):
            return expr
        return build(expr, kwargs=expr.kwargs.with_(base=start))
