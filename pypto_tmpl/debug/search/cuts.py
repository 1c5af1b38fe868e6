"""Tiles that a pass has cut for lanes along another axis than that of the split."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.debug.search.suspects import Suspect
from pypto_tmpl.debug.trace.traced_stage import Place, TracedStage
from pypto_tmpl.execution.entry import user_name

_AXES = {1: 0, 3: 0, 2: 1, 4: 1}  # of the codes that a split has


def wrong_cut(good: TracedStage, bad: TracedStage, place: Place) -> Suspect | None:
    """The statement that cuts a tile wrongly, if the one at ``place`` fails on such a tile.

    Lanes divide the tiles of a kernel along the axis of its split. An operand that is smaller than in the
    good stage along another one is followed back to the statement that made it smaller.
    """
    axis = _AXES.get(_split(bad.functions[place.function]))
    stmt = bad.statements.get(place)
    if axis is None or stmt is None:
        return None
    known = {user_name(var.name_hint): var.type for var in _variables(good, place.function)}
    for var in _tiles(stmt):
        before = known.get(user_name(var.name_hint))
        cut = _cut_axes(var.type, before)
        if cut and cut != [axis]:
            origin = _cutting(bad, place, var, known)
            reason = f"{var.name_hint} is {_shape(var.type)} here, {_shape(before)} in the good stage"
            which = f"cut along axis {cut[0]}, but the lanes divide axis {axis}"
            return Suspect(origin, reasons=[f"{reason}: {which}"])
    return None


def _cutting(bad: TracedStage, reader: Place, var: ir.Var, known: dict[str, ir.Type]) -> Place:
    """The first statement on the way to a variable that makes a small tile of one that is whole."""
    place = reader
    pending, seen = [var], {reader}
    while pending:
        made = bad.definitions.get(id(pending.pop()))
        if made is None or made in seen or not made.path:
            continue
        seen.add(made)
        place = made
        sources = list(_tiles(bad.statements[made]))
        if any(source.type == known.get(user_name(source.name_hint)) for source in sources):
            return made
        pending += sources
    return place


def _split(function: ir.Function) -> int:
    split = function.attrs.get("split")
    return int(split.value if isinstance(split, ir.SplitMode) else split or 0)


def _variables(stage: TracedStage, function: str) -> Iterator[ir.Var]:
    for place, stmt in stage.statements.items():
        if place.function == function and isinstance(stmt, ir.AssignStmt):
            yield stmt.var


def _tiles(stmt: ir.Stmt) -> Iterator[ir.Var]:
    value = getattr(stmt, "value", getattr(stmt, "expr", None))
    for node in ir.walk(value) if isinstance(value, ir.Expr) else ():
        if isinstance(node, ir.Var) and isinstance(node.type, ir.TileType):
            yield node


def _extents(type_: ir.Type | None) -> list[int] | None:
    if not isinstance(type_, ir.ShapedType) or not all(isinstance(e, ir.ConstInt) for e in type_.shape):
        return None
    return [extent.value for extent in type_.shape if isinstance(extent, ir.ConstInt)]


def _shape(type_: ir.Type | None) -> str:
    return str(_extents(type_))


def _cut_axes(now: ir.Type, before: ir.Type | None) -> list[int]:
    """The axes along which a tile is smaller than it was; none of tiles that are not comparable."""
    small, large = _extents(now), _extents(before)
    if small is None or large is None or len(small) != len(large):
        return []
    return [axis for axis, (a, b) in enumerate(zip(small, large, strict=True)) if a < b]
