"""Copies of tensors in which some elements are others: new ones over zeros, ones over zeros, and a choice.

On the device a scatter may lose what it does not write, so that the tile op gets zeros instead of the copy.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType, MemorySpace
from pypto_tmpl.passes.tensor_to_tile.lowering import Lowering, element_type, fixed_extents, int32

_INT16_COUNT = 1 << 15
Scatter = Callable[[ir.Expr, ir.Expr], ir.Call]
"""The tile op that writes a source into a target."""


def scatter(lowering: Lowering) -> ir.Expr:
    """Every row has new values at given columns."""
    rows, width = fixed_extents(lowering, "input")
    count, _ = fixed_extents(lowering, "index")
    let, emit = lowering.let, lowering.emit
    kept, index, source = (lowering.bridged(name, MemorySpace.Vec) for name in ("input", "index", "src"))
    dtype = element_type(index)
    if dtype not in (DataType.INT16, DataType.INT32):
        raise lowering.error(f"tiles take positions of INT16 or INT32, not of {dtype}")
    if dtype == DataType.INT16 and rows * width > _INT16_COUNT:
        raise lowering.error(f"positions in [{rows}, {width}] do not fit into the INT16 of its index")

    def number(value: int) -> ir.ConstInt:
        return ir.ConstInt(value, dtype, lowering.before.span)

    counted = emit("tile.ci", number(0), [1, count], dtype=dtype, descending=False)
    lines = let("scatter_row", emit("tile.reshape", let("scatter_row_lin", counted), [count, 1]))
    base = let("scatter_row_base", emit("tile.muls", lines, number(width)))
    flat = let("scatter_flat_idx", emit("tile.row_expand_add", index, base))
    return _chosen(lowering, "scatter", kept, source, _at(lowering, flat))


def scatter_mask(lowering: Lowering) -> ir.Expr:
    """Every row has new values in the columns of a pattern."""
    kept, source = (lowering.bridged(name, MemorySpace.Vec) for name in ("dst", "input"))

    def put(target: ir.Expr, values: ir.Expr) -> ir.Call:
        return lowering.emit("tile.scatter_mask", target, values, **lowering.before.kwargs)

    return _chosen(lowering, "scatter", kept, source, put)


def scatter_rows(lowering: Lowering) -> ir.Expr:
    """Whole rows are new, by their numbers; all axes but the last one count rows."""
    shape = fixed_extents(lowering, "input")
    rows, width, count = prod(shape[:-1]), shape[-1], prod(fixed_extents(lowering, "index"))
    let, emit = lowering.let, lowering.emit
    kept, index, source = (lowering.bridged(name, MemorySpace.Vec) for name in ("input", "index", "src"))
    is_matrix = len(shape) == len((rows, width))
    if not is_matrix:
        kept = let("su_input", emit("tile.reshape", kept, [rows, width]))
        source = let("su_src", emit("tile.reshape", source, [count, width]))
    counted = emit("tile.ci", int32(lowering, 0), [1, width], dtype=DataType.INT32, descending=False)
    columns = let("su_col", counted)
    blank = let("su_tmpl", emit("tile.full", [count, width], dtype=DataType.INT32, value=0))
    places = let("su_col_nd", emit("tile.col_expand", blank, columns))
    chosen = let("su_idx_flat", emit("tile.reshape", index, [count, 1]))
    base = let("su_row_base", emit("tile.muls", chosen, int32(lowering, width)))
    flat = let("su_flat_idx", emit("tile.row_expand_add", places, base))
    found = _chosen(lowering, "su", kept, source, _at(lowering, flat))
    return found if is_matrix else emit("tile.reshape", let("su_rows", found), list(shape))


def _at(lowering: Lowering, flat: ir.Expr) -> Scatter:
    return lambda target, values: lowering.emit("tile.scatter", target, values, flat)


def _chosen(lowering: Lowering, prefix: str, kept: ir.Expr, source: ir.Expr, put: Scatter) -> ir.Call:
    """What is put in where something is put in, elsewhere what was there."""
    let, emit = lowering.let, lowering.emit
    assert isinstance(kept.type, ir.TileType) and isinstance(source.type, ir.TileType)
    dtype, shape = kept.type.dtype, list(kept.type.shape)
    one, zero = (1.0, 0.0) if dtype.is_float() else (1, 0)
    zeros = let(f"{prefix}_v0", emit("tile.full", shape, dtype=dtype, value=zero))
    values = let(f"{prefix}_vals", put(zeros, source))
    unmarked = let(f"{prefix}_m0", emit("tile.full", shape, dtype=dtype, value=zero))
    full = emit("tile.full", list(source.type.shape), dtype=dtype, value=one)
    marked = let(f"{prefix}_mask", put(unmarked, let(f"{prefix}_ones", full)))
    is_new = let(f"{prefix}_pred", emit("tile.cmps", marked, zero, cmp_type=1))
    space = lowering.workspace(f"{prefix}_tmp", [1, 32], DataType.UINT8)
    return emit("tile.sel", is_new, values, kept, space)
