"""The views of result types: layout, strides and pad, by the words of the op table."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import as_extents, constant_extent, same_extent
from pypto_tmpl.ir.types import implicit_tile_view
from pypto_tmpl.ops.model import ResultSpec
from pypto_tmpl.ops.typing.operands import Extents, Operands

_TURNED = {
    ir.TileLayout.row_major: ir.TileLayout.col_major,
    ir.TileLayout.col_major: ir.TileLayout.row_major,
    ir.TileLayout.none_box: ir.TileLayout.none_box,
}
_Layout = tuple[ir.TileLayout, ir.TileLayout, int]


def tile_view(
    spec: ResultSpec,
    given: Operands,
    shape: Extents,
    valid: Extents | None,
    space: ir.MemorySpace | None,
) -> ir.TileView | None:
    """The view of a tile; the type's constructor drops what goes without saying."""
    layout = _tile_layout(spec, given, shape, space)
    before = _view_source(spec, given)
    pad = before.pad if before is not None and spec.pad is None else _pad(spec, given)
    compact = _compact(before, shape, valid, space)
    if layout is None and valid is None and pad is ir.PadValue.null and compact is ir.CompactMode.null:
        return None
    blayout, slayout, fractal = layout or _layout_of(implicit_tile_view(shape, space))
    return ir.TileView(
        valid or (), blayout=blayout, slayout=slayout, fractal=fractal, pad=pad, compact=compact
    )


def _view_source(spec: ResultSpec, given: Operands) -> ir.TileView | None:
    """The view that the result's is a copy of but for its region: that of the operand whose layout it has."""
    name = spec.layout or spec.valid or ""
    operand = given.first if name == "turned" else given.operand(name)
    if operand is None and given.entry.returns is not None:
        operand = given.operand(given.entry.returns)
    type_ = operand.type if operand is not None else None
    return type_.tile_view if isinstance(type_, ir.TileType) else None


def _compact(
    before: ir.TileView | None, shape: Extents, valid: Extents | None, space: ir.MemorySpace | None
) -> ir.CompactMode:
    """An accumulator packs its boxes by the valid rows, where these may be fewer than its rows."""
    is_narrowed = valid is not None and len(shape) > 1 and not same_extent(valid[-2], shape[-2])
    if space is ir.MemorySpace.Acc and is_narrowed:
        return ir.CompactMode.normal
    return before.compact if before is not None else ir.CompactMode.null


def _tile_layout(
    spec: ResultSpec, given: Operands, shape: Extents, space: ir.MemorySpace | None
) -> _Layout | None:
    """Block layout, box layout and box size; None for those that the memory space implies."""
    match spec.layout:
        case "row_major" | "col_major" as name:
            return ir.TileLayout[name], ir.TileLayout.none_box, 512
        case "implied":
            return None
        case "extracted":
            if space is not ir.MemorySpace.Left:
                return None
            return ir.TileLayout.row_major, ir.TileLayout.row_major, 512
        case "keywords":
            blayout, slayout, fractal = _layout_of(implicit_tile_view(shape, space))
            return given.keyword("blayout") or blayout, given.keyword("slayout") or slayout, fractal
        case "turned":
            source = given.first.type
            assert isinstance(source, ir.TileType)
            blayout, slayout, fractal = _layout_of(source.get_effective_tile_view())
            return _TURNED[blayout], _TURNED[slayout], fractal
    operand = given.operand(spec.layout or spec.valid or "")
    type_ = operand.type if operand is not None else None
    if not isinstance(type_, ir.TileType) or (type_.memory_space is None and type_.tile_view is None):
        return None
    blayout, slayout, fractal = _layout_of(type_.get_effective_tile_view())
    if type_.memory_space is not space:  # the box size is that of the result's space
        fractal = implicit_tile_view(shape, space).fractal
    return blayout, slayout, fractal


def _layout_of(view: ir.TileView) -> _Layout:
    return view.blayout, view.slayout, view.fractal


def tensor_view(
    spec: ResultSpec, given: Operands, shape: Extents, valid: Extents | None
) -> ir.TensorView | None:
    """The view of a tensor; the type's constructor drops what goes without saying."""
    layout, stride = _tensor_layout(spec, given)
    pad = _pad(spec, given)
    if not stride and valid is None and layout is ir.TensorLayout.ND and pad is ir.PadValue.null:
        return None
    return ir.TensorView(stride, layout, valid or (), pad)


def _tensor_layout(spec: ResultSpec, given: Operands) -> tuple[ir.TensorLayout, Extents]:
    """Layout and strides; no strides for a packed tensor."""
    if spec.layout is None:
        return ir.TensorLayout.ND, ()
    if spec.layout == "transposed":
        return _transposed(given)
    for name in spec.layout.split(" or "):
        keyword = given.keyword(name)
        if isinstance(keyword, ir.TensorLayout):
            return keyword, ()
        operand = given.operand(name)
        if operand is not None and isinstance(operand.type, ir.TensorType):
            view = operand.type.tensor_view
            return (ir.TensorLayout.ND, ()) if view is None else (view.layout, view.stride)
    return ir.TensorLayout.ND, ()


def _transposed(given: Operands) -> tuple[ir.TensorLayout, Extents]:
    """The strides of the operand with two axes swapped; DN where they are the last two."""
    source = given.first.type
    assert isinstance(source, ir.TensorType)
    view, rank = source.tensor_view, len(source.shape)
    was_turned = view is not None and view.layout is ir.TensorLayout.DN
    if view is not None and view.stride:
        stride = list(view.stride)
    elif was_turned:  # the last two axes are exchanged in memory
        stride = packed_strides([*source.shape[:-2], source.shape[-1], source.shape[-2]])
        stride[-1], stride[-2] = stride[-2], stride[-1]
    else:
        stride = packed_strides(source.shape)
    first, second = ((constant_extent(axis) or 0) % rank for axis in given.args[1:3])
    stride[first], stride[second] = stride[second], stride[first]
    is_last_two = {first, second} == {rank - 1, rank - 2}
    layout = ir.TensorLayout.DN if is_last_two != was_turned else ir.TensorLayout.ND
    is_packed = layout is ir.TensorLayout.ND and was_turned and is_last_two
    return layout, () if is_packed and not (view and view.stride) else stride


def packed_strides(shape: Sequence[ir.Expr]) -> list[ir.Expr]:
    """The strides of a row-major tensor without gaps."""
    found: list[ir.Expr | int] = [1]
    for extent in reversed(shape[1:]):
        last, size = found[0], constant_extent(extent)
        if isinstance(last, int) and size is not None:
            found.insert(0, last * size)
        else:
            found.insert(0, extent if last == 1 and isinstance(last, int) else ir.mul(extent, last))
    return list(as_extents(found))


def _pad(spec: ResultSpec, given: Operands) -> ir.PadValue:
    """The pad that the view records: a keyword's, or that of an operand."""
    if spec.pad is None:
        return ir.PadValue.null
    keyword = given.keyword(spec.pad)
    if isinstance(keyword, ir.PadValue):
        return keyword
    operand = given.operand(spec.pad)
    if operand is not None and isinstance(operand.type, ir.TileType):
        return operand.type.tile_view.pad if operand.type.tile_view is not None else ir.PadValue.null
    return ir.PadValue.null
