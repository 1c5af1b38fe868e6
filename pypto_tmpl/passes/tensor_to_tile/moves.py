"""Gathers, scatters, expansions and transfers: tensor ops that become loops, or many calls."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tensor_to_tile.lowering import LoopNames, Lowering
from pypto_tmpl.rewrite import build

_SCATTER_UPDATE = "tensor.scatter_update"
_MATRIX = 2
_PAGES = 3


def gather(lowering: Lowering) -> ir.Expr:
    """Elements of rows, by their places in the row."""
    rows, width = _matrix(lowering, lowering.operand("index"))
    _, source_width = _matrix(lowering, lowering.operand("input"))
    if lowering.before.kwargs["dim"] not in (-1, _MATRIX - 1):
        raise lowering.error("only gathers along the last axis are lowered to tiles yet")
    if lowering.flat_gather:
        return _gather_flat(lowering, rows, width, source_width)
    source, index = lowering.operand("input"), lowering.operand("index")
    dtype = _dtype(source)
    start = lowering.workspace("gather_acc_init", [rows, width], dtype)

    def step(row: ir.Expr, result: ir.Expr) -> ir.Expr:
        source_row = lowering.let("gather_inp_row", _row(lowering, source, row, source_width))
        index_row = lowering.let("gather_idx_row", _row(lowering, index, row, width))
        space = lowering.workspace("gather_row_tmp", [1, width], DataType.INT32)
        found = lowering.let("gather_row", lowering.emit("tile.gather", source_row, index_row, space))
        return lowering.let("gather_asmbl", lowering.emit("tile.assemble", result, found, [row, 0]))

    return lowering.loop(LoopNames("gather_lv", "gather_ia", "gather_rv"), rows, start, step)


def _gather_flat(lowering: Lowering, rows: int, width: int, source_width: int) -> ir.Expr:
    let, emit = lowering.let, lowering.emit
    source = lowering.bridged("input", MemorySpace.Vec, "gather_inp")
    index = lowering.bridged("index", MemorySpace.Vec, "gather_idx")
    counted = emit("tile.ci", _int32(lowering, 0), [1, rows * width], dtype=DataType.INT32, descending=False)
    places = let("gather_lin2d", emit("tile.reshape", let("gather_lin", counted), [rows, width]))
    row = let("gather_row_ids", emit("tile.divs", places, _int32(lowering, width)))
    base = let("gather_row_base", emit("tile.muls", row, _int32(lowering, source_width)))
    flat = let("gather_flat_idx", emit("tile.add", index, base))
    space = lowering.workspace("gather_tmp", [rows, width], DataType.INT32)
    return let("gather", emit("tile.gather", source, flat, space))


def scatter(lowering: Lowering) -> ir.Expr:
    """Rows of a matrix are replaced: new values over zeros, ones over zeros, and a choice between the two."""
    if lowering.before.op.name != _SCATTER_UPDATE:
        raise lowering.error("this op is not lowered to tiles yet")
    rows, width = _matrix(lowering, lowering.operand("input"))
    count, _ = _matrix(lowering, lowering.operand("src"))
    let, emit = lowering.let, lowering.emit
    kept, index, source = (lowering.bridged(name, MemorySpace.Vec) for name in ("input", "index", "src"))
    dtype = _dtype(kept)
    one, zero = (1.0, 0.0) if dtype.is_float() else (1, 0)
    counted = emit("tile.ci", _int32(lowering, 0), [1, width], dtype=DataType.INT32, descending=False)
    columns = let("su_col", counted)
    blank = let("su_tmpl", emit("tile.full", [count, width], dtype=DataType.INT32, value=0))
    places = let("su_col_nd", emit("tile.col_expand", blank, columns))
    chosen = let("su_idx_flat", emit("tile.reshape", index, [count, 1]))
    base = let("su_row_base", emit("tile.muls", chosen, _int32(lowering, width)))
    flat = let("su_flat_idx", emit("tile.row_expand_add", places, base))
    zeros = let("su_v0", emit("tile.full", [rows, width], dtype=dtype, value=zero))
    values = let("su_vals", emit("tile.scatter", zeros, source, flat))
    unmarked = let("su_m0", emit("tile.full", [rows, width], dtype=dtype, value=zero))
    ones = let("su_ones", emit("tile.full", [count, width], dtype=dtype, value=one))
    marked = let("su_mask", emit("tile.scatter", unmarked, ones, flat))
    is_new = let("su_pred", emit("tile.cmps", marked, zero, cmp_type=1))
    space = lowering.workspace("su_tmp", [1, 32], DataType.UINT8)
    return emit("tile.sel", is_new, values, kept, space)


def paged_gather(lowering: Lowering) -> ir.Expr:
    """Rows of a pool, by their places in pages and the places of the pages."""
    keywords = lowering.before.kwargs
    if keywords.get("is_trans") or keywords.get("is_b_matrix"):
        raise lowering.error("transposed pages are not lowered to tiles yet")
    source, wanted, table = (lowering.operand(name) for name in ("src", "indices", "block_table"))
    rows, width, block = keywords["max_indices"], keywords["size"], keywords["block_size"]
    create = lowering.emit(
        "tile.create", [rows, width], dtype=_dtype(source), target_memory=keywords["space"]
    )
    count = lowering.let("pg_rows", lowering.emit("tensor.dim", wanted, 0))
    start = lowering.let("paged_gather_acc", create)

    def number(tensor: ir.Expr, at: ir.Expr, name: str) -> ir.Var:
        raw = lowering.let(f"{name}_raw__tile", lowering.emit("tensor.read", tensor, [at]))
        return lowering.let(name, ir.cast(raw, DataType.INDEX, lowering.before.span))

    def step(place: ir.Expr, result: ir.Expr) -> ir.Expr:
        index = number(wanted, place, "pg_idx")
        page = lowering.let("pg_blk", index // block)
        rest = lowering.let("pg_rem", index % block)
        found = lowering.let("pg_phys", number(table, page, "pg_pblk") * block + rest)
        offset = [found, keywords.get("col_off", 0)]
        call = lowering.emit(
            "tile.gather_row", result, source, [place, 0], offset, [1, width], transpose=False
        )
        return lowering.let("pg_row", call)

    return lowering.loop(LoopNames("pg_i", "paged_gather_iter", "paged_gather_result"), count, start, step)


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
        blank = lowering.workspace("expand_clone_d2_target", full, _dtype(source))
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
        blank = lowering.workspace("expand_clone_d1_target", [1, *full[1:]], _dtype(source))
        expanded = let("expand_clone_d1_col", emit("tile.col_expand", blank, line))
        return let("expand_clone_d1_store", emit("tile.store", expanded, [page, 0, 0], result))

    return lowering.loop(LoopNames("i", "expand_clone_acc", "expand_clone_d1_result"), full[0], target, step)


def staged(lowering: Lowering) -> ir.Expr:
    """A transfer between ranks goes through a tile."""
    keywords = dict(lowering.before.kwargs)
    for name in ("chunk_rows", "chunk_cols", "pipeline"):
        if keywords.pop(name, None):
            raise lowering.error(f"transfers in chunks are not lowered to tiles yet: {name} is given")
    kind = lowering.before.op.name.rpartition(".")[2]
    source = lowering.operand("src")
    assert isinstance(source.type, ir.TensorType)
    shape = lowering.operand("shape") if lowering.has("shape") else list(source.type.shape)
    stage = lowering.workspace(f"t{kind}_stage", shape, source.type.dtype)
    regions = [None, *lowering.call.args[3:]] if lowering.call.args[3:] else []
    return lowering.emit(f"pld.tile.{kind}", *lowering.call.args[:3], stage, *regions, **keywords)


def _row(lowering: Lowering, value: ir.Expr, row: ir.Expr, width: int) -> ir.Call:
    if isinstance(value.type, ir.TensorType):
        return lowering.window(value, [row, 0], [1, width], [1, width], MemorySpace.Vec)
    return lowering.emit("tile.slice", value, [1, width], [row, 0])


def _matrix(lowering: Lowering, value: ir.Expr) -> tuple[int, int]:
    """The extents of a matrix of fixed size."""
    assert isinstance(value.type, ir.ShapedType)
    extents = [constant_extent(extent) for extent in value.type.shape]
    if len(extents) != _MATRIX or extents[0] is None or extents[1] is None:
        raise lowering.error("only matrices of fixed size are lowered to tiles yet")
    return extents[0], extents[1]


def _int32(lowering: Lowering, value: int) -> ir.ConstInt:
    return ir.ConstInt(value, DataType.INT32, lowering.before.span)


def _dtype(value: ir.Expr) -> DataType:
    assert isinstance(value.type, ir.ShapedType)
    return value.type.dtype
