"""Elements and rows of tensors by numbers that are known at run time."""

from __future__ import annotations

from math import prod

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.passes.tensor_to_tile.lowering import (
    LoopNames,
    Lowering,
    element_type,
    fixed_extents,
    int32,
)

_MATRIX = 2
_LAST_TWO = (-2, -1)


def gather(lowering: Lowering) -> ir.Expr:
    """Elements along an axis: of the lines along it, each at the place of the line of their numbers."""
    wanted = fixed_extents(lowering, "index")
    axis = lowering.before.kwargs["dim"] % len(wanted)
    box = list(wanted)
    box[axis] = fixed_extents(lowering, "input")[axis]
    return _gather_flat(lowering, box, axis) if lowering.flat_gather else _gather_lines(lowering, box, axis)


def _gather_flat(lowering: Lowering, box: list[int], axis: int) -> ir.Expr:
    """One call, by positions in all of the tile; the axes before and behind the one at hand are one each."""
    let, emit = lowering.let, lowering.emit
    wanted = fixed_extents(lowering, "index")
    behind = prod(wanted[axis + 1 :])
    source = _as_matrix(lowering, _boxed(lowering, "gather_inp", box, keeps_first=axis > 0), "gather_inp2d")
    index = _as_matrix(lowering, lowering.bridged("index", MemorySpace.Vec, "gather_idx"), "gather_idx2d")
    rows, width = _matrix_of(wanted)
    counted = emit("tile.ci", int32(lowering, 0), [1, rows * width], dtype=DataType.INT32, descending=False)
    places = let("gather_lin2d", emit("tile.reshape", let("gather_lin", counted), [rows, width]))
    before = emit("tile.divs", places, int32(lowering, wanted[axis] * behind))
    base = emit("tile.muls", let("gather_row_ids", before), int32(lowering, box[axis]))
    flat = let("gather_flat_idx", emit("tile.add", index, let("gather_row_base", base)))
    if behind > 1:
        line = let("gather_line", emit("tile.divs", places, int32(lowering, behind)))
        start = let("gather_line_base", emit("tile.muls", line, int32(lowering, behind)))
        place = let("gather_column", emit("tile.sub", places, start))
        scaled = let("gather_scaled", emit("tile.muls", flat, int32(lowering, behind)))
        flat = let("gather_flat", emit("tile.add", scaled, place))
    space = lowering.workspace("gather_tmp", [rows, width], DataType.INT32)
    found = let("gather", emit("tile.gather", source, flat, space))
    return found if len(wanted) == _MATRIX else emit("tile.reshape", found, list(wanted))


def _gather_lines(lowering: Lowering, box: list[int], axis: int) -> ir.Expr:
    """Line by line; where the axis is not the last one, it changes places with those behind it."""
    let, emit = lowering.let, lowering.emit
    wanted = fixed_extents(lowering, "index")
    behind, before = prod(wanted[axis + 1 :]), prod(wanted[:axis])
    source, index = lowering.operand("input"), lowering.operand("index")
    if behind > 1 or len(wanted) > _MATRIX:
        source = _boxed(lowering, "gather_inp", box, keeps_first=False)
        index = lowering.bridged("index", MemorySpace.Vec, "gather_idx")
    if behind > 1:
        source = _turned(lowering, source, [before, box[axis], behind], "gather_inp")
        index = _turned(lowering, index, [before, wanted[axis], behind], "gather_idx")
    source, index = _as_matrix(lowering, source, "gather_inp2d"), _as_matrix(lowering, index, "gather_idx2d")
    lines, width = before * behind, wanted[axis]
    start = lowering.workspace("gather_acc_init", [lines, width], element_type(source))

    def step(line: ir.Expr, result: ir.Expr) -> ir.Expr:
        source_line = let("gather_inp_row", _line(lowering, source, line, box[axis]))
        index_line = let("gather_idx_row", _line(lowering, index, line, width))
        space = lowering.workspace("gather_row_tmp", [1, width], DataType.INT32)
        found = let("gather_row", emit("tile.gather", source_line, index_line, space))
        return let("gather_asmbl", emit("tile.assemble", result, found, [line, 0]))

    names = LoopNames("gather_lv", "gather_ia", "gather_rv")
    found: ir.Expr = lowering.loop(names, lines, start, step)
    if behind > 1:
        found = _turned(lowering, found, [before, behind, width], "gather_out")
    return found if _extents(found) == list(wanted) else emit("tile.reshape", found, list(wanted))


def _boxed(lowering: Lowering, name: str, box: list[int], *, keeps_first: bool) -> ir.Expr:
    """The part of the input that the numbers can name, from its beginning; its first axis may be longer."""
    value, found = lowering.operand("input"), list(fixed_extents(lowering, "input"))
    if found[int(keeps_first) :] == box[int(keeps_first) :]:
        return lowering.bridged("input", MemorySpace.Vec, name)
    start = [0] * len(box)
    if isinstance(value.type, ir.TensorType):
        return lowering.let(name, lowering.window(value, start, box, box, MemorySpace.Vec))
    return lowering.let(name, lowering.emit("tile.slice", value, box, start))


def _turned(lowering: Lowering, value: ir.Expr, shape: list[int], name: str) -> ir.Expr:
    """A tile as blocks, or one block, of which the two axes change places."""
    shape = shape[1:] if shape[0] == 1 else shape
    if _extents(value) != shape:
        value = lowering.let(f"{name}_lines", lowering.emit("tile.reshape", value, shape))
    axes = [len(shape) + axis for axis in _LAST_TWO]
    return lowering.let(f"{name}_t", lowering.emit("tile.transpose", value, *axes))


def _as_matrix(lowering: Lowering, value: ir.Expr, name: str) -> ir.Expr:
    """A value of two axes as it is, another one as a tile of two axes."""
    extents = _extents(value)
    if len(extents) == _MATRIX:
        return value
    return lowering.let(name, lowering.emit("tile.reshape", value, list(_matrix_of(extents))))


def _matrix_of(extents: list[int] | tuple[int, ...]) -> tuple[int, int]:
    return prod(extents[:-1]), extents[-1]


def _extents(value: ir.Expr) -> list[int]:
    assert isinstance(value.type, ir.ShapedType)
    return [extent.value for extent in value.type.shape if isinstance(extent, ir.ConstInt)]


def _line(lowering: Lowering, value: ir.Expr, line: ir.Expr, width: int) -> ir.Call:
    if isinstance(value.type, ir.TensorType):
        return lowering.window(value, [line, 0], [1, width], [1, width], MemorySpace.Vec)
    return lowering.emit("tile.slice", value, [1, width], [line, 0])


def compared(lowering: Lowering) -> ir.Expr:
    """The tile op with a workspace of bytes."""
    source = lowering.tile("input")
    assert isinstance(source.type, ir.TileType)
    space = lowering.workspace("gather_cmp_tmp", list(source.type.shape), DataType.UINT8)
    keywords = lowering.before.kwargs
    return lowering.emit("tile.gather_compare", source, lowering.operand("kvalue"), space, **keywords)


def paged_gather(lowering: Lowering) -> ir.Expr:
    """Rows of a pool, by their places in pages and the places of the pages; they may become columns."""
    keywords = lowering.before.kwargs
    source, wanted, table = (lowering.operand(name) for name in ("src", "indices", "block_table"))
    rows, width, block = keywords["max_indices"], keywords["size"], keywords["block_size"]
    is_turned = bool(keywords.get("is_trans"))
    space = keywords.get("space", MemorySpace.Mat)
    shape = [width, rows] if is_turned else [rows, width]
    create = lowering.emit("tile.create", shape, dtype=element_type(source), target_memory=space)
    assert isinstance(wanted.type, ir.TensorType)
    count = lowering.let("pg_rows", lowering.emit("tensor.dim", wanted, len(wanted.type.shape) - 1))
    start = lowering.let("paged_gather_acc", create)

    def number(tensor: ir.Expr, at: ir.Expr, name: str) -> ir.Var:
        assert isinstance(tensor.type, ir.TensorType)
        places = [*[0] * (len(tensor.type.shape) - 1), at]
        raw = lowering.let(f"{name}_raw__tile", lowering.emit("tensor.read", tensor, places))
        return lowering.let(name, ir.cast(raw, DataType.INDEX, lowering.before.span))

    def step(place: ir.Expr, result: ir.Expr) -> ir.Expr:
        index = number(wanted, place, "pg_idx")
        page = lowering.let("pg_blk", index // block)
        rest = lowering.let("pg_rem", index % block)
        found = lowering.let("pg_phys", number(table, page, "pg_pblk") * block + rest)
        target = [0, place] if is_turned else [place, 0]
        offset = [found, keywords.get("col_off", 0)]
        call = lowering.emit(
            "tile.gather_row", result, source, target, offset, [1, width], transpose=is_turned
        )
        return lowering.let("pg_row", call)

    return lowering.loop(LoopNames("pg_i", "paged_gather_iter", "paged_gather_result"), count, start, step)
