"""What becomes of the calls of vector ops on tiles that two lanes share, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent, same_extent, same_extents
from pypto_tmpl.ops import facts, load_table, resolve_result
from pypto_tmpl.passes.cores.lane import AXES, elements, replaced_at
from pypto_tmpl.passes.cores.lane_plan import LanePlan, Rule

Stmt = ir.AssignStmt | ir.EvalStmt

_ALONG_ROWS = (
    "reduce_last",
    "concat_last",
    "double_last",
)  # each row of the result is made of one of the operands
_ALONG_COLUMNS = ("reduce_first",)


def rule_of(op: str) -> Rule:
    """The rule for an op: most ops compute cell by cell, or row by row."""
    return _RULES.get(op, _by_cells)


def piped_rule_of(op: str) -> Rule:
    """The rule for an op in a kernel whose pushes and pops stand already."""
    known = facts.of(op)
    if known.pipe_end is not None:
        return {"pop": _pop, "push": _push, "free": _free}[known.pipe_end]
    return rule_of(op)


def _pop(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    if call.kwargs.get("split") and plan.lane.is_wide(call.type):
        plan.become(stmt, call, call.args, plan.lane.axis)


def _push(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    source = call.args[0]
    if call.kwargs.get("split") and plan.axis(source) != plan.lane.axis:
        name = getattr(source, "name_hint", source)
        what = f"{name!r} is pushed as the part of a lane, but is not halved along the split"
        raise plan.error(what, stmt, source)
    plan.ask_region(source)


def _free(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    """The slot of a tile has no cells of its own."""


def _load(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    lane = plan.lane
    tensor, offsets, shapes, valid = call.args
    if not lane.is_wide(call.type):
        plan.note_access(stmt, tensor, elements(offsets), elements(shapes), None)
        return
    place = _dimension(plan, stmt, elements(shapes), lane.axis, elements(valid))
    extent = elements(shapes)[place]
    plan.note_access(stmt, tensor, elements(offsets), elements(shapes), place)
    args = [
        tensor,
        replaced_at(offsets, place, lane.offset(elements(offsets)[place], extent, stmt)),
        lane.halved(shapes, place, stmt),
        replaced_at(valid, place, lane.valid(elements(valid)[place], extent, stmt)),
    ]
    plan.become(stmt, call, args, lane.axis)


def _store(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    tile, offsets, target, *shapes = call.args
    axis = plan.axis(tile)
    assert isinstance(tile.type, ir.TileType)
    extents = elements(shapes[0]) if shapes else tile.type.shape
    outer = len(elements(offsets)) - len(extents)
    window: list[ir.Expr] = [ir.ConstInt(1, ir.DataType.INDEX, stmt.span) for _ in range(outer)]
    window += extents
    if axis is None:
        if call.kwargs.get("atomic"):
            raise plan.error("both lanes would add the same tile: it is not halved over them", stmt, tile)
        plan.note_access(stmt, target, elements(offsets), window, None, is_store=True)
        return
    plan.ask_region(tile)
    place = _dimension(plan, stmt, extents, axis)
    at = place + outer
    plan.note_access(stmt, target, elements(offsets), window, at, is_store=True)
    moved = plan.lane.offset(elements(offsets)[at], extents[place], stmt)
    args = [tile, replaced_at(offsets, at, moved), target]
    plan.become(stmt, call, args + [plan.lane.halved(one, place, stmt) for one in shapes], None)


def _dimension(
    plan: LanePlan, stmt: Stmt, extents: Sequence[ir.Expr], axis: int, valid: Sequence[ir.Expr] = ()
) -> int:
    """The dimension of a window that an axis of its tile is; leading ones are one axis: then the first."""
    last = len(extents) - AXES
    if axis == 1 or last <= 0:
        return last + axis
    for place, extent in enumerate(extents[:last]):
        value = constant_extent(extent)
        if value == 1:
            continue
        is_whole = not valid or same_extents(valid, extents)
        if value is None or value % 2 or plan.lane.stride is not None or not is_whole:
            raise plan.error("a window of several pages cannot be halved for the lanes", stmt)
        return place
    return last


def _generated(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    """Every lane makes its part: all cells are alike."""
    if plan.lane.is_wide(call.type):
        args = [plan.lane.halved(call.args[0], plan.lane.axis, stmt), *call.args[1:]]
        plan.become(stmt, call, args, plan.lane.axis)


def _counted(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    if plan.lane.is_wide(call.type):
        raise plan.error(
            f"{call.op.name} gives cells by their places: the lanes would get the same ones", stmt
        )


def _slice(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    source, shape, offset, *rest = call.args
    axis = plan.axis(source)
    if axis is None:
        return
    _check_whole_axis(plan, stmt, source, elements(shape)[axis], elements(offset)[axis], axis)
    plan.ask_region(source)
    extent = elements(shape)[axis]
    if rest and elements(rest[0]):
        rest[0] = replaced_at(rest[0], axis, plan.lane.valid(elements(rest[0])[axis], extent, stmt))
    if len(rest) > 1 and elements(rest[1]):
        raise plan.error("a slice that drops axes cannot be halved for the lanes", stmt)
    plan.become(stmt, call, [source, plan.lane.halved(shape, axis, stmt), offset, *rest], axis)


def _extract(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    source, row, column, shape = call.args
    axis = plan.axis(source)
    if axis is None:
        return
    _check_whole_axis(plan, stmt, source, elements(shape)[axis], (row, column)[axis], axis)
    plan.ask_region(source)
    plan.become(stmt, call, [source, row, column, plan.lane.halved(shape, axis, stmt)], axis)


def _assemble(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    target, source, offset = call.args
    axes = {plan.axis(target), plan.axis(source)}
    axis = next(iter(axes))
    if axis is None and len(axes) == 1:
        return
    if axis is None or len(axes) > 1:
        raise plan.error("a part is laid into a tile, and only one of the two is halved over the lanes", stmt)
    assert isinstance(source.type, ir.TileType)
    _check_whole_axis(plan, stmt, target, source.type.shape[axis], elements(offset)[axis], axis)
    plan.ask_region(target)
    plan.ask_region(source)
    plan.become(stmt, call, call.args, axis)


def _check_whole_axis(
    plan: LanePlan, stmt: Stmt, tile: ir.Expr, extent: ir.Expr, offset: ir.Expr, axis: int
) -> None:
    """A window of a halved tile takes all of that axis: else cells of both lanes are in it."""
    assert isinstance(tile.type, ir.TileType)
    if constant_extent(offset) != 0 or not same_extent(extent, tile.type.shape[axis]):
        raise plan.error(f"a window along axis {axis}, which the lanes share, has cells of both", stmt)


def _reshape(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    source, shape = call.args
    axis = plan.axis(source)
    if axis is None:
        return
    assert isinstance(source.type, ir.TileType)
    after = _followed(plan, stmt, source.type, elements(shape), axis)
    plan.ask_region(source)
    plan.become(stmt, call, [source, plan.lane.halved(shape, after, stmt)], after)


def _followed(plan: LanePlan, stmt: Stmt, before: ir.TileType, shape: Sequence[ir.Expr], axis: int) -> int:
    """The axis that the lanes share in another shape: theirs are the halves of all cells in order."""
    old = [constant_extent(extent) for extent in before.shape]
    new = [constant_extent(extent) for extent in shape]
    if old == new:
        return axis
    valid = before.get_effective_tile_view().valid_shape
    is_whole = same_extents(valid, before.shape) and plan.lane.stride is None
    is_first = axis == 0 or old[0] == 1
    after = 1 if len(new) == AXES and new[0] == 1 else 0
    halves = (old[axis], new[after] if after < len(new) else None)
    if len(new) != AXES or not is_whole or not is_first or any(half is None or half % 2 for half in halves):
        raise plan.error(
            f"a tile that the lanes share along axis {axis} cannot be followed through a reshape", stmt
        )
    return after


def _reinterpret(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    source, *shape = call.args
    axis = plan.axis(source)
    if axis is None:
        return
    assert isinstance(source.type, ir.TileType) and isinstance(call.type, ir.TileType)
    if axis == 1 or not same_extent(source.type.shape[0], call.type.shape[0]):
        raise plan.error("a tile that the lanes share along this axis cannot be read as another type", stmt)
    plan.ask_region(source)
    plan.become(stmt, call, [source, *(plan.lane.halved(one, 0, stmt) for one in shape)], axis)


def _set_validshape(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    source, *valid = call.args
    axis = plan.axis(source)
    if axis is None:
        return
    assert isinstance(source.type, ir.TileType)
    plan.ask_region(source)
    valid[axis] = plan.lane.valid(valid[axis], source.type.shape[axis], stmt)
    plan.become(stmt, call, [source, *valid], axis)


def _by_cells(plan: LanePlan, stmt: Stmt, call: ir.Call) -> None:
    """An op whose cells are made of the cells at their places, or row by row, or column by column."""
    entry = load_table().get(call.op.name)
    specs = entry.operands if entry is not None else ()
    is_workspace = [spec.scratch for spec in specs] + [False] * len(call.args)
    operands = [arg for arg, scratch in zip(call.args, is_workspace, strict=False) if not scratch]
    halved = [(arg, axis) for arg in operands if (axis := plan.axis(arg)) is not None]
    if not halved:
        return
    first, axis = halved[0]
    if any(other != axis for _, other in halved):
        raise plan.error(
            f"the operands of {call.op.name} are halved over the lanes along different axes", stmt
        )
    assert isinstance(first.type, ir.TileType)
    _check_apart(plan, stmt, call, first.type, axis)
    if not facts.of_value(call).has("cellwise"):
        for operand, _ in halved:
            if not _is_reduction(call, axis):
                plan.ask_region(operand)
    args: list[ir.Expr] = []
    before: list[ir.Stmt] = []
    for arg, scratch in zip(call.args, is_workspace, strict=False):
        if not scratch and plan.axis(arg) is None and plan.lane.is_wide(arg.type, axis):
            arg, taken = plan.part_of(arg, axis, stmt)
            before += taken
        args.append(arg)
    plan.become(stmt, call, args, axis, before)


def _check_apart(plan: LanePlan, stmt: Stmt, call: ir.Call, operand: ir.TileType, axis: int) -> None:
    """Raise PassError unless each lane can make its half of the result of its half of the operands."""
    known = facts.of_value(call)
    fills = known.has("fills_padding") and plan.lane.stride is None
    if not (known.has("cellwise") or fills or _is_reduction(call, axis) or _is_along(call, axis)):
        verb = "reduces" if _is_reduction(call, 1 - axis) else "needs more than its half"
        what = f"{call.op.name} {verb} along axis {axis}, which the lanes share"
        raise plan.error(what, stmt)
    if not isinstance(call.type, ir.TileType) or len(call.type.shape) != AXES:
        raise plan.error(f"the result of {call.op.name} cannot be halved for the lanes", stmt)
    if not same_extent(call.type.shape[axis], operand.shape[axis]):
        raise plan.error(
            f"the result of {call.op.name} has another extent along axis {axis}, which the lanes share", stmt
        )


def _is_reduction(call: ir.Call, axis: int) -> bool:
    """Whether an op reduces the axis that is not ``axis``."""
    return _shape_rule(call) == ("reduce_last", "reduce_first")[axis]


def _is_along(call: ir.Call, axis: int) -> bool:
    return _shape_rule(call) in (_ALONG_ROWS, _ALONG_COLUMNS)[axis]


def _shape_rule(call: ir.Call) -> str | None:
    entry = load_table().get(call.op.name)
    return resolve_result(entry).shape if entry is not None else None


_RULES: MappingProxyType[str, Rule] = MappingProxyType(
    {
        "tile.load": _load,
        "tile.store": _store,
        "tile.full": _generated,
        "tile.create": _generated,
        "tile.ci": _counted,
        "tile.random": _counted,
        "tile.tri": _counted,
        "tile.slice": _slice,
        "tile.extract": _extract,
        "tile.assemble": _assemble,
        "tile.reshape": _reshape,
        "tile.reinterpret_view": _reinterpret,
        "tile.set_validshape": _set_validshape,
    }
)
