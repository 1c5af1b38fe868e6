"""Vector kernels as two lanes run them."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import FunctionType, IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.whole_tiles import awaits_halving, split_code, takes_whole_tiles
from pypto_tmpl.passes.aliases import Aliases
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.cores.kernel import Kernel, evaluated_call
from pypto_tmpl.passes.cores.lane import Lane, lane_index
from pypto_tmpl.passes.cores.lane_memory import LaneMemory
from pypto_tmpl.passes.cores.lane_plan import LanePlan
from pypto_tmpl.passes.cores.lane_replay import with_replay
from pypto_tmpl.passes.cores.lane_rules import piped_rule_of
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.memory import Memory
from pypto_tmpl.rewrite import Names, as_body, build

_MODES = 2


class SplitVectorKernel(ProgramPass):
    """Say of kernels how they are split, and have lanes that are not split by now share them or take turns.

    A kernel written by hand for whole tiles, though its transfers are split, is halved; one that is not split
    is run by the first lane while the second one keeps the pipes going, where the backend runs it on both.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm, IRProperty.MixedKernelExpanded})
    produces = frozenset(
        {IRProperty.SSAForm, IRProperty.VectorKernelSplit, IRProperty.NormalizedStmtStructure}
    )

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        backend = context.backend
        replays = backend is not None and backend.requires.no_split_dual_aiv_dispatch
        peers, callees, aliases = (
            _cube_members(program),
            Callees(program.functions.values()),
            Aliases(program),
        )
        functions = []
        for function in program.functions.values():
            if function.func_type in (FunctionType.AIC, FunctionType.AIV):
                memory = Memory(function, callees, aliases.of(function.name))
                function = _split(function, peers.get(function.name), replays, memory)
            functions.append(function)
        return build(program, functions=functions)


def _split(function: ir.Function, cube: ir.Function | None, replays: bool, memory: Memory) -> ir.Function:
    mode = _mode(function)
    is_vector = function.func_type is FunctionType.AIV
    is_own = "external_source" not in function.attrs
    if not function.attrs.get("split_aiv"):
        if mode and is_vector and is_own and _is_whole(function, cube):
            function = _halved(function, mode, memory)
        elif not mode and is_vector and is_own and replays and _is_for_one_lane(function):
            return with_replay(function)
        if not mode:
            return function
    attrs = function.attrs
    if mode:
        attrs = attrs.without("split", *(["dual_aiv_dispatch"] if is_vector else [])).with_(split=mode)
    return build(function, attrs=attrs.with_(dual_aiv_dispatch=True) if is_vector else attrs)


def _is_for_one_lane(function: ir.Function) -> bool:
    """Whether both lanes run a kernel that does not ask which one runs it."""
    calls = map(evaluated_call, statements(function.body))
    knows_lane = any(facts.of_value(call).has("lane_index") for call in calls)
    return bool(function.attrs.get("dual_aiv_dispatch")) and not knows_lane


def _mode(function: ir.Function) -> int:
    """The split mode of a kernel, by its attribute or its transfers (odd codes count too); 0 for none."""
    found = function.attrs.get("split", 0)
    if function.attrs.get("split_aiv"):
        return int(found)
    modes = {found} if found else set()
    for stmt in statements(function.body):
        call = evaluated_call(stmt)
        if call is None or not facts.of_value(call).is_transfer or not split_code(call):
            continue
        modes.add((split_code(call) - 1) % _MODES + 1)
        if len(modes) > 1:
            raise PassError("the pushes and pops of a kernel split it along different axes", function, stmt)
    return int(modes.pop()) if modes else 0


def _cube_members(program: ir.Program) -> dict[str, ir.Function]:
    """The cube kernel that runs beside a vector kernel, by the name of that, as groups say."""
    found: dict[str, ir.Function] = {}
    for group in program.functions.values():
        if group.func_type is not FunctionType.Group:
            continue
        calls = [call for call in map(evaluated_call, statements(group.body)) if call is not None]
        members = [member for call in calls if (member := program.get_function(call.op.name)) is not None]
        cube = next((member for member in members if member.func_type is FunctionType.AIC), None)
        if cube is not None:
            found |= {member.name: cube for member in members if member.func_type is FunctionType.AIV}
    return found


def _is_whole(function: ir.Function, cube: ir.Function | None) -> bool:
    """Whether a vector kernel is written for whole tiles, which the lanes have yet to share."""
    calls = [call for call in map(evaluated_call, statements(function.body)) if call is not None]
    if any(facts.of_value(call).is_transfer for call in calls):
        peers = (
            [call for call in map(evaluated_call, statements(cube.body)) if call is not None] if cube else []
        )
        return takes_whole_tiles(peers, calls)
    return awaits_halving(function, calls)


def _halved(function: ir.Function, mode: int, memory: Memory) -> ir.Function:
    kernel = Kernel(function)
    strides: dict[int | None, ir.Stmt] = {}
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        if call is not None and facts.of_value(call).pipe_end == "pop":
            strides.setdefault(call.kwargs.get("lane_stride"), stmt)
    if len(strides) > 1:
        what = "lanes start at different distances in the tiles that a kernel pops"
        raise PassError(what, function, list(strides.values())[1])
    index, defined = lane_index(Names.of(function), function.span)
    stride = next(iter(strides), None)
    lanes = LaneMemory(kernel, memory)
    lane = Lane(function, mode - 1, index, stride)
    plan = LanePlan(kernel, lane, piped_rule_of, lanes, tells_all=True)
    plan.follow(function.body)
    lanes.check()
    return build(function, body=as_body([defined, plan.rewritten(function.body)], function.body.span))
