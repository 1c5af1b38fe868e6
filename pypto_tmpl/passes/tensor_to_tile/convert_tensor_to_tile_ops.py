"""Kernels compute with tiles, which they load from tensors and store into them."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.aliases import Aliases, Pairs
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.tensor_to_tile.directions import with_directions
from pypto_tmpl.passes.tensor_to_tile.kernel import with_tiles
from pypto_tmpl.passes.tensor_to_tile.results import with_buffers, with_stores
from pypto_tmpl.passes.tensor_to_tile.writes import with_bulk_writes
from pypto_tmpl.rewrite import build


class ConvertTensorToTileOps(ProgramPass):
    """Turn tensor ops of kernels into tile ops, as the op table says (``lowers_to``).

    Parameters that ops need as tiles are loaded at the beginning. Tiles that a kernel returned are stored
    into parameters ``ret<i>__out``; orchestration creates the buffers for them. Parameters that are written
    are marked so, up through all callers.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm, IRProperty.SplitIncoreOrch, IRProperty.NormalizedStmtStructure})
    produces = frozenset(
        {
            IRProperty.SSAForm,
            IRProperty.IncoreTileOps,
            IRProperty.NormalizedStmtStructure,
            IRProperty.AivSplitValid,
        }
    )
    invalidates = frozenset({IRProperty.AivSplitValid})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        before = {function.name: function for function in program.functions.values()}
        aliases = Aliases(program)
        functions = [
            _converted(function, aliases.shared(function.name), context)
            if function.func_type is ir.FunctionType.InCore
            else function
            for function in before.values()
        ]
        return build(program, functions=with_directions(with_buffers(functions, before)))


def _converted(function: ir.Function, shared: Pairs, context: PassContext) -> ir.Function:
    return with_stores(with_tiles(with_bulk_writes(function, shared), shared, context.backend))
