"""Carries of loops in place: what a round yields is computed where the next one reads it."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.carry_copies import CarryCopies
from pypto_tmpl.passes.memory.fresh import Fresh
from pypto_tmpl.passes.memory.joining import join_yielded
from pypto_tmpl.passes.memory.keeping import kept
from pypto_tmpl.passes.memory.memory_reuse import share
from pypto_tmpl.passes.memory.placed_tiles import placed
from pypto_tmpl.passes.memory.places import Places
from pypto_tmpl.passes.memory.placing import with_storage
from pypto_tmpl.passes.memory.retargeting import Retargeting
from pypto_tmpl.passes.memory.room import refuse_what_never_fits
from pypto_tmpl.passes.settings import MemoryPlanner


class MaterializeSemanticAliases(FunctionPass):
    """Put what counted loops yield for a tile into the storage of the carry, as far as that keeps all values.

    What cannot go there keeps its own storage, and the carry is copied later: here with the planner DSA_RP,
    else where allocations are joined. With DSA_RP those in Acc are joined here, too: nothing copies in there.
    Where another tool places allocations (planner PTOAS), an error for what needs more at once than a memory
    has, and for buffers that the user has placed across each other or off the alignment.
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
        if function.func_type is ir.FunctionType.Orchestration:
            return function
        made = with_storage(function, _plan(function))
        if not is_incore_type(function.func_type):
            return made
        if context.get_memory_planner() is MemoryPlanner.PTOAS:
            refuse_what_never_fits(made, context.backend)
        if context.get_memory_planner() is MemoryPlanner.DSA_RP and any(True for _ in placed(made)):
            places = Places(made)
            places.follow_carries()
            share(made, context, places, ir.MemorySpace.Acc)
            places.follow_carries()
            fresh = Fresh(made)
            join_yielded(made, places, fresh)
            made = kept(CarryCopies(made, places, fresh).applied())
        return made


def _plan(function: ir.Function) -> dict[int, ir.MemRef]:
    """The storage of the variables that move, the outermost loops first."""
    loops = [
        stmt
        for stmt in statements(function.body)
        if isinstance(stmt, ir.ForStmt) and any(isinstance(arg.type, ir.TileType) for arg in stmt.iter_args)
    ]
    if not loops:
        return {}
    retargeting = Retargeting(function)
    for loop in loops:
        for place in range(len(loop.iter_args)):
            retargeting.carry(loop, place)
    retargeting.move_views()
    return retargeting.moved
