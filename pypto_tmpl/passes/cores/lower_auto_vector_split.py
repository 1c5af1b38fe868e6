"""Vector work of mixed kernels that two lanes share, written out for one lane."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import FunctionType, IRProperty
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.aliases import Aliases
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.cores.kernel import Kernel
from pypto_tmpl.passes.cores.lane import Lane, lane_index
from pypto_tmpl.passes.cores.lane_memory import LaneMemory
from pypto_tmpl.passes.cores.lane_plan import LanePlan
from pypto_tmpl.passes.cores.lane_regions import with_regions_lowered
from pypto_tmpl.passes.cores.lane_rules import rule_of
from pypto_tmpl.passes.cores.lane_stride import lane_stride
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.memory import Memory
from pypto_tmpl.rewrite import Names, as_body, build

_BASE = frozenset(
    {
        IRProperty.SSAForm, IRProperty.SplitIncoreOrch, IRProperty.IncoreTileOps, IRProperty.TileOps2D,
        IRProperty.TileMemoryInferred, IRProperty.NormalizedStmtStructure,
    }
)  # fmt: skip


class LowerAutoVectorSplit(ProgramPass):
    """Halve the tiles of the vector side of a mixed kernel with a split mode, and lower its regions of lanes.

    What one lane loads, computes and stores is written with the lane's index. Where halves would not compute
    what the whole does, for an op, a window or a reshape, the pass says so.
    """

    __slots__ = ()
    requires = _BASE | {IRProperty.AivSplitValid}
    produces = _BASE
    invalidates = frozenset({IRProperty.AivSplitValid})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        callees = Callees(program.functions.values())
        aliases = Aliases(program)
        functions = [
            _lowered(Kernel(function), callees, aliases)
            if function.func_type is FunctionType.InCore
            else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


def _lowered(kernel: Kernel, callees: Callees, aliases: Aliases) -> ir.Function:
    function = kernel.function
    has_regions = any(isinstance(stmt, ir.SplitAivScopeStmt) for stmt in kernel.statements)
    is_split = function.split is not None and not function.attrs.get("split_aiv")
    if not has_regions and (not is_split or kernel.side() is not CoreSide.MIXED):
        return function
    memory = LaneMemory(kernel, Memory(function, callees, aliases.of(function.name)))
    return with_regions_lowered(kernel, memory) if has_regions else _halved(kernel, memory)


def _halved(kernel: Kernel, memory: LaneMemory) -> ir.Function:
    function = kernel.function
    mode = function.split
    assert mode is not None
    for stmt in kernel.statements:
        if isinstance(stmt, ir.ScopeStmt):
            raise PassError("a scope is left in a kernel that is split over the lanes", function, stmt)
    axis = mode.value - 1
    index, defined = lane_index(Names.of(function), function.span)
    plan = LanePlan(kernel, Lane(function, axis, index, lane_stride(kernel, axis)), rule_of, memory)
    plan.follow(function.body)
    memory.check()
    attrs = function.attrs.without("split", "split_aiv", "dual_aiv_dispatch")
    body = as_body([defined, plan.rewritten(function.body)], function.body.span)
    return build(function, body=body, attrs=attrs.with_(split=mode, split_aiv=True))
