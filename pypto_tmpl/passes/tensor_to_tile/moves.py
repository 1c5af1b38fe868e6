"""Expansions into tensors in memory, and transfers between ranks."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tensor_to_tile.lowering import LoopNames, Lowering, element_type
from pypto_tmpl.rewrite import build

_MATRIX = 2
_PAGES = 3


def expand_clone(lowering: Lowering) -> ir.Expr:
    """A target in memory is filled with a tensor, repeated along at most one axis."""
    source, target = lowering.operand("input"), lowering.operand("target")
    if not isinstance(source.type, ir.TensorType) or not isinstance(target.type, ir.TensorType):
        raise lowering.error("its operands have to be tensors in memory")
    shape, full = list(source.type.shape), list(target.type.shape)
    if len(shape) != _PAGES or len(full) != _PAGES:
        raise lowering.error(f"its operands have to have {_PAGES} axes")
    axes = [axis for axis in range(_PAGES) if constant_extent(shape[axis]) != constant_extent(full[axis])]
    if len(axes) > 1 or any(constant_extent(shape[axis]) != 1 for axis in axes):
        raise lowering.error("only one axis, of extent 1, can be repeated")
    axis = axes[0] if axes else None
    if axis == 1:
        return _expanded_pages(lowering, source, target, shape, full)
    load = lowering.load(source, MemorySpace.Vec)
    if axis == _MATRIX:
        columns = ir.TileView(
            blayout=ir.TileLayout.col_major
        )  # one value a row, as in a matrix of one column
        load = build(load, type=build(load.type, tile_view=columns))
    tile: ir.Expr = lowering.let("expand_clone_input", load)
    if axis == _MATRIX:
        blank = lowering.workspace("expand_clone_d2_target", full, element_type(source))
        tile = lowering.let("expand_clone_d2_row", lowering.emit("tile.row_expand", blank, tile))
    if axis != 0:
        return lowering.emit("tile.store", tile, [0, 0, 0], target)

    def step(page: ir.Expr, result: ir.Expr) -> ir.Expr:
        store = lowering.emit("tile.store", tile, [page, 0, 0], result)
        return lowering.let("expand_clone_d0_store", store)

    return lowering.loop(LoopNames("i", "expand_clone_acc", "expand_clone_d0_result"), full[0], target, step)


def _expanded_pages(
    lowering: Lowering, source: ir.Expr, target: ir.Expr, shape: list[ir.Expr], full: list[ir.Expr]
) -> ir.Expr:
    let, emit = lowering.let, lowering.emit
    one = [1, *shape[1:]]

    def step(page: ir.Expr, result: ir.Expr) -> ir.Expr:
        load = lowering.window(source, [page, 0, 0], one, one, MemorySpace.Vec)
        line = let("expand_clone_d1_input", load)
        blank = lowering.workspace("expand_clone_d1_target", [1, *full[1:]], element_type(source))
        expanded = let("expand_clone_d1_col", emit("tile.col_expand", blank, line))
        return let("expand_clone_d1_store", emit("tile.store", expanded, [page, 0, 0], result))

    return lowering.loop(LoopNames("i", "expand_clone_acc", "expand_clone_d1_result"), full[0], target, step)


def staged(lowering: Lowering) -> ir.Expr:
    """A transfer between ranks goes through a tile, or two in turn; where chunks are asked for, of one."""
    keywords = dict(lowering.before.kwargs)
    rows, columns = keywords.pop("chunk_rows", 0), keywords.pop("chunk_cols", 0)
    in_turn = keywords.pop("pipeline", False)
    kind = lowering.before.op.name.rpartition(".")[2]
    source = lowering.operand("src")
    assert isinstance(source.type, ir.TensorType)
    region = lowering.operand("shape") if lowering.has("shape") else None
    whole = region.elements if isinstance(region, ir.MakeTuple) else source.type.shape
    chunk: list[int | ir.Expr] = list(whole)
    for axis, limit in ((0, rows), (-1, columns)):
        if limit:
            chunk[axis] = min(limit, constant_extent(whole[axis]) or limit)
    if any(isinstance(extent, ir.Expr) and constant_extent(extent) is None for extent in chunk):
        raise lowering.error("tiles have fixed sizes: chunk_rows or chunk_cols has to bound what is moved")
    stages: list[ir.Expr | None] = [lowering.workspace(f"t{kind}_stage", chunk, source.type.dtype)]
    if in_turn:
        stages.append(lowering.workspace(f"t{kind}_stage2", chunk, source.type.dtype))
    regions = lowering.call.args[3:]
    if regions and not in_turn:
        stages.append(None)
    return lowering.emit(f"pld.tile.{kind}", *lowering.call.args[:3], *stages, *regions, **keywords)
