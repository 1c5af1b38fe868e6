"""Kernels of the cube core and of vector cores, and groups of both."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import FunctionType, IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.aliases import Aliases
from pypto_tmpl.passes.base import NoBackendError, PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.cores.frees import with_frees
from pypto_tmpl.passes.cores.groups import with_members_called, with_own_variables
from pypto_tmpl.passes.cores.handed_on import with_copies
from pypto_tmpl.passes.cores.kernel import NOTIFY, OTHER, Flows, Kernel, TensorParams, evaluated_call
from pypto_tmpl.passes.cores.memory_order import hand_overs
from pypto_tmpl.passes.cores.pipe_setup import TO_CUBE, TO_VECTOR, check_slots, is_set_up, with_setup
from pypto_tmpl.passes.cores.replacing import Replacing
from pypto_tmpl.passes.cores.share import Reach, Share
from pypto_tmpl.passes.cores.side_body import SideBody
from pypto_tmpl.passes.cores.transfers import boxed, transfers_of
from pypto_tmpl.passes.pipelining.memory import Alias
from pypto_tmpl.rewrite import Rewriter, build

_BASE = frozenset(
    {
        IRProperty.SSAForm, IRProperty.SplitIncoreOrch, IRProperty.IncoreTileOps, IRProperty.TileOps2D,
        IRProperty.TileMemoryInferred, IRProperty.NormalizedStmtStructure,
    }
)  # fmt: skip
_TYPES = {CoreSide.CUBE: FunctionType.AIC, CoreSide.VECTOR: FunctionType.AIV}
_TRANSPOSE = "tile.transpose"
_SUFFIXES = {CoreSide.CUBE: "aic", CoreSide.VECTOR: "aiv"}


class ExpandMixedKernel(ProgramPass):
    """Make of each kernel one of the cube core, one of vector cores, or a group of two that hand tiles over.

    A core has what runs on it, and what either can do and it needs. Where a move goes from one side to the
    other, one core pushes the tile to a pipe and the other one pops it. What the pass cannot share out
    without changing values is an error: a value that the other core needs and no move hands over, a load
    that nothing makes wait for the store of the other core.
    """

    __slots__ = ()
    requires = _BASE
    produces = frozenset(
        {
            IRProperty.SSAForm, IRProperty.MixedKernelExpanded, IRProperty.NormalizedStmtStructure,
            IRProperty.HardSyncallOccupancyValid,
        }
    )  # fmt: skip

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        made: list[ir.Function] = []
        aliases = Aliases(program)
        pairs: dict[str, tuple[ir.Function, ir.Function]] = {}
        for function in program.functions.values():
            if function.func_type is not FunctionType.InCore:
                is_vector = function.func_type is FunctionType.AIV
                made.append(_boxed(function, context.backend) if is_vector else function)
                continue
            kernel = Kernel(function)
            if kernel.side() is not CoreSide.MIXED:
                side = CoreSide.CUBE if kernel.side() is CoreSide.CUBE else CoreSide.VECTOR
                attrs = function.attrs.without("split")
                made.append(_placed(build(function, func_type=_TYPES[side], attrs=attrs)))
                continue
            if context.backend is None:
                what = "Backend type not configured: how the cores exchange tiles depends on it"
                raise NoBackendError(what, function, _first_crossing(kernel))
            pairs[function.name] = _expanded(kernel, context.backend, aliases.of(function.name))
            made.append(function)
        return build(program, functions=with_members_called(made, pairs, context.backend))


def _first_crossing(kernel: Kernel) -> ir.IRNode:
    """The first statement in which the cores exchange a tile; the function where they exchange none."""
    calls = (stmt for stmt in kernel.statements if evaluated_call(stmt) is not None)
    return next((stmt for stmt in calls if kernel.side(stmt) is CoreSide.MIXED), kernel.function)


def _placed(function: ir.Function) -> ir.Function:
    """Without the attribute that says on which core a call has been placed: now the function says it."""
    calls = map(evaluated_call, statements(function.body))
    is_told = any(call is not None and "core_placement" in call.attrs for call in calls)
    return _Placed().rewrite(function) if is_told else function


class _Placed(Rewriter):
    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call) or "core_placement" not in expr.attrs:
            return expr
        return build(expr, attrs=expr.attrs.without("core_placement"))


def _expanded(kernel: Kernel, backend: BackendFacts, aliases: list[Alias]) -> tuple[ir.Function, ir.Function]:
    """The functions of both sides of a mixed kernel."""
    function = kernel.function
    _refuse_turned_lanes(kernel)
    _refuse_signals(kernel)
    transfers = transfers_of(kernel)
    params = TensorParams(function)
    flows = Flows(kernel, transfers)
    reaches = {side: Reach(kernel, flows, params, transfers, side) for side in OTHER}
    shares = {side: Share(kernel, params, transfers, reaches, side) for side in OTHER}
    kept = {side: share.kept for side, share in shares.items()}
    tokens = hand_overs(kernel, kept, list(transfers.values()), params, aliases)
    consumers = {*(transfer.consumer for transfer in transfers.values()), *tokens.slot_bytes}
    directions = (TO_VECTOR if CoreSide.VECTOR in consumers else 0) | (
        TO_CUBE if CoreSide.CUBE in consumers else 0
    )
    sizes = [transfer.slot_bytes(function) for transfer in transfers.values()]
    slot = max([*sizes, *(size for found in tokens.slot_bytes.values() for size in found)], default=0)
    sides = []
    for side in OTHER:
        body = SideBody(shares[side], transfers, tokens.ahead[side], tokens.behind[side])
        is_vector = side is CoreSide.VECTOR
        found = build(
            function,
            name=f"{function.name}_{_SUFFIXES[side]}",
            func_type=_TYPES[side],
            return_types=function.return_types if is_vector else (),
            attrs=_attrs(function, backend) if is_vector else function.attrs,
            body=body.rewrite(function.body),
        )
        found = with_frees(with_copies(found), side)
        if directions and not is_set_up(kernel.statements):
            check_slots(found, function)
            found = with_setup(found, side, function, directions, slot)
        found = _boxed(found, backend) if is_vector else found
        sides.append(with_own_variables(_placed(found)))
    return sides[0], sides[1]


def _boxed(function: ir.Function, backend: BackendFacts | None) -> ir.Function:
    """A vector kernel whose pushes, also those written by hand, are of boxes where the backend needs that."""
    if backend is None or not backend.requires.vto_c_fractal_adapt:
        return function
    calls = map(evaluated_call, statements(function.body))
    is_pushing = any(facts.of_value(call).is_push_to("aic") for call in calls)
    return _Boxing().rewrite(function) if is_pushing else function


class _Boxing(Replacing):
    def replaced(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        call = evaluated_call(stmt)
        if call is None or not facts.of_value(call).is_push_to("aic") or not isinstance(call.args[0], ir.Var):
            return [stmt]
        source, before = boxed(call.args[0], stmt.span)
        return [*before, build(stmt, expr=build(call, args=[source, *call.args[1:]]))]


def _attrs(function: ir.Function, backend: BackendFacts) -> ir.AttrMap:
    """The attributes of the vector side: without a split both lanes run it where the backend needs that."""
    if function.split is not None or not backend.requires.no_split_dual_aiv_dispatch:
        return function.attrs
    return function.attrs.with_(dual_aiv_dispatch=True)


def _refuse_signals(kernel: Kernel) -> None:
    """Both cores would count a signal up that nobody has placed on one of them."""
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        is_signal = call is not None and call.op.name == NOTIFY and call.kwargs.get("op") == 0
        if is_signal and kernel.side(stmt) is CoreSide.SHARED:
            what = f"{NOTIFY} would run on both cores and count twice: it stands in no region of lanes"
            raise PassError(what, kernel.function, stmt)


def _refuse_turned_lanes(kernel: Kernel) -> None:
    """A transpose would exchange the axis that the lanes share with another one."""
    function = kernel.function
    if function.split is None or function.attrs.get("split_aiv_region_validated"):
        return
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        if call is None or call.op.name != _TRANSPOSE or kernel.side(stmt) is not CoreSide.VECTOR:
            continue
        axes = {axis.value for axis in call.args[1:3] if isinstance(axis, ir.ConstInt)}
        shape = call.args[0].type.shape if isinstance(call.args[0].type, ir.TileType) else ()
        axis = function.split.value - 1
        if axis in axes and len(axes) > 1 and axis < len(shape) and constant_extent(shape[axis]) != 1:
            what = f"tile.transpose exchanges axis {axis}, along which the kernel is split over the lanes"
            raise PassError(what, function, stmt)
