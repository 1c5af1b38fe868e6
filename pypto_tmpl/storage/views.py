"""Views of tiles: the bytes in which the elements lie that a view shows, whatever its type says."""

from __future__ import annotations

from dataclasses import replace

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import element_bits
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import OpTable
from pypto_tmpl.ops.typing.words import resolve_result
from pypto_tmpl.storage.boxes import Boxes
from pypto_tmpl.storage.places import Place, packed_strides

_OFFSETS = 2  # of a window, among the operands of the op
_RANK = 2
_BYTE = 8  # bits
_TURNED = "turned"  # the layout of ops that swap the last two axes


def shown_place(value: ir.Call, view: Place, source: Place, table: OpTable) -> Place | None:
    """Where the elements of a view lie, which moves nothing, if its tile lies at ``source``.

    ``view`` is where its type says; that is also taken for what is known at run time only. None for elements
    that do not follow each other as any type could say.
    """
    if view.is_moving or source.is_moving:
        return view
    start = replace(view, space=source.space, base=source.base, offset=source.offset)
    if table.facts(value.op.name).has("window"):
        return _window(value, start, source)
    if view.boxes is not None and len(source.shape) != _RANK:
        return start  # boxes of more than two axes are not known here
    if resolve_result(table[value.op.name]).layout == _TURNED:
        return replace(start, strides=source.strides[::-1], boxes=_turned(source.boxes))
    if source.boxes is not None:
        is_known = view.dtype == source.dtype and len(view.shape) == _RANK
        return replace(start, boxes=source.boxes) if is_known else start
    if _is_by_rows(source):
        return replace(start, strides=packed_strides(view.shape), boxes=None)
    is_alike = (view.shape, view.dtype) == (source.shape, source.dtype)
    return replace(start, strides=source.strides, boxes=None) if is_alike else None


def is_alike(one: Place, other: Place) -> bool:
    """Whether two places of one extent are the same elements, whatever the strides of axes of one element."""
    return one.starts_with(other) and one.dtype == other.dtype and _axes(one) == _axes(other)


def _window(value: ir.Call, start: Place, source: Place) -> Place | None:
    offsets = value.args[_OFFSETS]
    if not isinstance(offsets, ir.MakeTuple) or len(offsets.elements) != len(source.strides):
        return start
    if source.address is None or source.boxes is not None:
        return start
    before = sum(
        (constant_extent(offset) or 0) * stride
        for offset, stride in zip(offsets.elements, source.strides, strict=True)
    )
    address = source.address + before * element_bits(source.dtype) // _BYTE
    begin = ir.ConstInt(address, ir.DataType.INT64, start.offset.span)
    is_flat = len(start.shape) == len(source.shape)
    return replace(start, offset=begin, strides=source.strides if is_flat else start.strides, boxes=None)


_Axes = tuple[Boxes | None, tuple[tuple[int, int], ...]]


def _axes(place: Place) -> _Axes:
    """The boxes of a tile, or else the extents and strides of its axes, but of those with one element."""
    if place.boxes is not None:
        return place.boxes, ()
    axes = zip(place.shape, place.strides, strict=True)
    return None, tuple((extent, stride) for extent, stride in axes if extent != 1)


def _turned(boxes: Boxes | None) -> Boxes | None:
    """The boxes of a tile with its axes swapped."""
    if boxes is None:
        return None
    return Boxes(
        not boxes.is_by_rows,
        not boxes.is_row_major,
        boxes.fractal,
        boxes.width,
        boxes.height,
        boxes.columns,
        boxes.rows,
    )


def _is_by_rows(place: Place) -> bool:
    """Whether elements follow each other row by row without gaps."""
    step = 1
    for extent, stride in reversed(_axes(place)[1]):
        if stride != step:
            return False
        step *= extent
    return True
