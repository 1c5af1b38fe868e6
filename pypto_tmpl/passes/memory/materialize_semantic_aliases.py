"""Carries of loops in place: what a round yields is computed where the next one reads it."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.placing import with_storage
from pypto_tmpl.passes.memory.retargeting import Retargeting


class MaterializeSemanticAliases(FunctionPass):
    """Put what counted loops yield for a tile into the storage of the carry, as far as that keeps all values.

    What cannot go there keeps its own storage, and the carry is copied later.
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
        return with_storage(function, _plan(function, context.backend))


def _plan(function: ir.Function, backend: BackendFacts | None) -> dict[int, ir.MemRef]:
    """The storage of the variables that move, the outermost loops first."""
    loops = [
        stmt
        for stmt in statements(function.body)
        if isinstance(stmt, ir.ForStmt) and any(isinstance(arg.type, ir.TileType) for arg in stmt.iter_args)
    ]
    if not loops:
        return {}
    retargeting = Retargeting(function, backend)
    for loop in loops:
        for place in range(len(loop.iter_args)):
            retargeting.carry(loop, place)
    retargeting.move_views()
    return retargeting.moved
