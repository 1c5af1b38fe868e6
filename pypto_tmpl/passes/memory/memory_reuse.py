"""One allocation for tiles that are not in use at the same time."""

from __future__ import annotations

from collections import defaultdict

from pypto_tmpl import ir
from pypto_tmpl.backend import get_backend_type, is_backend_configured
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.carry_copies import CarryCopies
from pypto_tmpl.passes.memory.fresh import Fresh
from pypto_tmpl.passes.memory.joining import join_yielded
from pypto_tmpl.passes.memory.keeping import kept
from pypto_tmpl.passes.memory.lifespans import Lifetimes
from pypto_tmpl.passes.memory.overwriting import Live, Liveness
from pypto_tmpl.passes.memory.packing import Buffer, Packing
from pypto_tmpl.passes.memory.placed_tiles import allocations, is_pinned, placed, size_of
from pypto_tmpl.passes.memory.places import Places
from pypto_tmpl.passes.memory.reserved import Reserved
from pypto_tmpl.passes.pipelining.loops import MEMBERSHIP
from pypto_tmpl.rewrite import Rewriter, build


class MemoryReuse(FunctionPass):
    """Share allocations, and copy what bodies yield to where the carries and results lie.

    A tile that is written over while it is still needed is copied before; an error where nothing copies it.
    """

    __slots__ = ()
    requires = frozenset(
        {
            IRProperty.SplitIncoreOrch,
            IRProperty.IncoreTileOps,
            IRProperty.HasMemRefs,
            IRProperty.TileOps2D,
            IRProperty.NormalizedStmtStructure,
        }
    )
    produces = frozenset({IRProperty.NormalizedStmtStructure})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not any(True for _ in placed(function)):
            return function
        places = Places(function)
        places.follow_carries()
        share(function, context, places)
        places.follow_carries()
        fresh = Fresh(function)
        join_yielded(function, places, fresh)
        copies = CarryCopies(function, places, fresh)
        return kept(_unmarked(copies.applied()))


def share(
    function: ir.Function, context: PassContext, places: Places, only: ir.MemorySpace | None = None
) -> None:
    """Give tiles the places of the buffers that they are packed into, in all memories or ``only`` one."""
    lifetimes = Lifetimes(function)
    conflicts: dict[int, int] = defaultdict(int)

    def writing(written: ir.Var, memref: ir.MemRef, live: Live, stmt: ir.Stmt) -> None:
        conflicts[id(memref.base_)] |= live.mask

    liveness = Liveness(function, places.where, writing)
    bits = {base: liveness.live.bit(group.base) for base, group in lifetimes.groups.items()}
    backend = get_backend_type().name if is_backend_configured() else ""
    packing = Packing(lifetimes, conflicts, bits, backend)
    pinned = {base: size_of(call) for base, (_, call) in allocations(function).items() if is_pinned(call)}
    reserved = Reserved(function, context.backend)
    by_space: dict[ir.MemorySpace, list[Buffer]] = {}
    for space in dict.fromkeys(group.space for group in lifetimes.groups.values()):
        if only not in (None, space):
            continue
        own = [group for group in lifetimes.groups.values() if group.space is space]
        room = None if context.backend is None else context.backend.capacity(space)
        if room is not None and space is reserved.space:
            room -= reserved.end
        by_space[space] = packing.pack(own, pinned, room)
    for buffers in by_space.values():
        for buffer in buffers:
            for group in buffer.groups[1:]:
                places.join(group, buffer.first)


def _unmarked(function: ir.Function) -> ir.Function:
    """The function without what its calls say of stages of pipelines: nothing behind this pass asks."""
    calls = map(call_of, statements(function.body))
    is_marked = any(call is not None and MEMBERSHIP in call.attrs for call in calls)
    return _Unmarked().rewrite(function) if is_marked else function


class _Unmarked(Rewriter):
    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call) or MEMBERSHIP not in expr.attrs:
            return expr
        return build(expr, attrs=expr.attrs.without(MEMBERSHIP))
