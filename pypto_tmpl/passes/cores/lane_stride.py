"""How far apart two lanes start, where only the first part of what they share is valid."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide, side_of_space
from pypto_tmpl.passes.cores.kernel import Kernel, evaluated_call
from pypto_tmpl.passes.structure.yields import results


def lane_stride(kernel: Kernel, axis: int) -> int | None:
    """Half of the valid cells, rounded up, where lanes that start there share the work better than by boxes.

    That needs every tile that is wide along the axis to come from the cube core, all with the same extents,
    and none to go back. None where the lanes halve the box.
    """
    derived: set[int] = set()
    extents: set[tuple[int | None, int | None]] = set()
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        for variables, values in results(stmt):
            if any(id(value) in derived for value in values):
                derived |= set(map(id, variables))
        if not isinstance(stmt, ir.AssignStmt):
            continue
        if call is None:
            if id(stmt.value) in derived:
                derived.add(id(stmt.var))
            continue
        side = kernel.side(stmt)
        if side is CoreSide.MIXED and isinstance(call.type, ir.TileType):
            if side_of_space(call.type.memory_space) is not CoreSide.VECTOR:
                return None
            valid = call.type.get_effective_tile_view().valid_shape
            extents.add((constant_extent(call.type.shape[axis]), constant_extent(valid[axis])))
            derived.add(id(stmt.var))
        elif side is CoreSide.VECTOR and isinstance(call.type, ir.TileType):
            is_wide = len(call.type.shape) > axis and constant_extent(call.type.shape[axis]) != 1
            if any(id(arg) in derived for arg in call.args):
                if facts.of_value(call).has("fills_padding"):
                    return None  # all of the box counts from there on
                derived.add(id(stmt.var))
            elif is_wide:
                return None
    if len(extents) != 1:
        return None
    extent, valid_extent = extents.pop()
    if extent is None or valid_extent is None or not 0 < valid_extent < extent:
        return None
    stride = -(-valid_extent // 2)
    return stride if stride != -(-extent // 2) else None
