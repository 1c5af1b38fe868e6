"""Tiles whose buffer another tile has taken over by the time they are read."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.debug.trace.traced_stage import Place, TracedStage


def taken_over(stage: TracedStage, reader: Place, leaf: ir.Expr) -> Place | None:
    """The last statement between the definition of a tile and its reader that writes to the same bytes.

    Only statements that run before the reader in any case count: those above it in the blocks around it.
    """
    made = stage.definitions.get(id(leaf))
    found, is_behind = None, False
    for place, stmt in stage.statements.items():
        if place == reader:
            return found
        if place == made:
            is_behind = True
        elif is_behind and place.function == reader.function and isinstance(stmt, ir.AssignStmt):
            block = place.path.rpartition("/")[0]
            if reader.path.startswith(f"{block}/") and _overlap(stmt.var.type, leaf.type):
                found = place
    return None


def _overlap(one: ir.Type, other: ir.Type) -> bool:
    first, second = _bytes(one), _bytes(other)
    if first is None or second is None or first[0] != second[0]:
        return False
    return first[1] < second[2] and second[1] < first[2]


def _bytes(type_: ir.Type) -> tuple[str, int, int] | None:
    """The allocation of a tile, and its first byte and end there."""
    memref = type_.memref if isinstance(type_, ir.TileType) else None
    if memref is None or not isinstance(memref.byte_offset_, ir.ConstInt):
        return None
    start = memref.byte_offset_.value
    return memref.base_.name_hint, start, start + memref.size_
