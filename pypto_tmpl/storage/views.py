"""Views of tiles: whether the bytes that a type says are those in which the value lies."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import OpTable
from pypto_tmpl.ops.typing.words import resolve_result
from pypto_tmpl.storage.boxes import Boxes
from pypto_tmpl.storage.places import Place

_OFFSETS = 2  # of a window, among the operands of the op
_RANK = 2
_TURNED = "turned"  # the layout of ops that swap the last two axes


def is_shown(value: ir.Call, view: Place, source: Place, table: OpTable) -> bool:
    """Whether ``view`` has the elements that an op shows of the tile at ``source``, which moves nothing.

    A window that is known at run time only is cut from its tile, and so is right.
    """
    if view.is_moving or source.is_moving:
        return True
    if table.facts(value.op.name).has("window"):
        return _is_window(value, view, source)
    if not view.starts_with(source):
        return False
    if len(view.shape) != _RANK or len(source.shape) != _RANK:
        return True
    if resolve_result(table[value.op.name]).layout == _TURNED:
        return _turned(view) == _layout(source)
    if view.boxes is None and source.boxes is None:
        return _layout(view) == _layout(source) or _is_by_rows(view) and _is_by_rows(source)
    return view.dtype != source.dtype or _layout(view) == _layout(source)


def _is_window(value: ir.Call, view: Place, source: Place) -> bool:
    offsets = value.args[_OFFSETS]
    if not isinstance(offsets, ir.MakeTuple) or len(offsets.elements) != len(source.strides):
        return True
    if view.address is None or source.address is None:
        return view.starts_with(source)
    start = source.address
    for offset, stride in zip(offsets.elements, source.strides, strict=True):
        start += (constant_extent(offset) or 0) * stride * source.dtype.get_byte()
    return view.address == start and view.boxes is None


_Layout = tuple[Boxes | None, tuple[tuple[int, int], ...]]


def _layout(place: Place) -> _Layout:
    """The boxes of a tile, or else the extents and strides of its axes, but of those with one element."""
    if place.boxes is not None:
        return place.boxes, ()
    axes = zip(place.shape, place.strides, strict=True)
    return None, tuple((extent, stride) for extent, stride in axes if extent != 1)


def _turned(place: Place) -> _Layout:
    """The layout of a tile with its axes swapped."""
    boxes, axes = _layout(place)
    if boxes is None:
        return None, axes[::-1]
    turned = Boxes(
        not boxes.is_by_rows,
        not boxes.is_row_major,
        boxes.fractal,
        boxes.width,
        boxes.height,
        boxes.columns,
        boxes.rows,
    )
    return turned, ()


def _is_by_rows(place: Place) -> bool:
    """Whether elements follow each other row by row without gaps."""
    step = 1
    for extent, stride in reversed(_layout(place)[1]):
        if stride != step:
            return False
        step *= extent
    return True
