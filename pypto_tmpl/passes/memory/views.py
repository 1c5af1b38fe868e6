"""Where the views of a value lie: in its storage, at an offset that may be known at run time only."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import element_bits, packed_bytes
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory.strides import index, packed, product, total

_BYTE = 8
_WITH_STORAGE = ("tensor.", "tile.")
"""Ops of the cores and of orchestration; collectives give windows of their own."""
_SHAPE, _OFFSETS = 1, 2


def source_place(call: ir.Call) -> int | None:
    """The operand in whose storage the result lies, None where that has storage of its own."""
    if isinstance(call.op, ir.GlobalVar) or not call.op.name.startswith(_WITH_STORAGE):
        return None
    known = facts.of(call.op)
    return known.view_of if known.returned is None else known.returned


def begins_at_run_time(call: ir.Call) -> bool:
    """Whether only the run tells at which element of its source a view begins."""
    if not facts.of(call.op).has("window"):
        return False
    offsets = call.args[_OFFSETS]
    known = offsets.elements if isinstance(offsets, ir.MakeTuple) else [offsets]
    return any(constant_extent(offset) is None for offset in known)


def view_storage(call: ir.Call, parent: ir.MemRef, function: ir.Function) -> ir.MemRef:
    """The part of the storage of its source that a view, or what an op has changed, lies in.

    A window lies from its first element to its last, by the strides of a packed source. Raises PassError
    where a window of elements of four bits does not surely begin at a byte.
    """
    known = facts.of(call.op)
    source = call.args[0].type
    if not known.has("window") or known.view_of is None or not isinstance(source, ir.ShapedType):
        return parent
    shape, offsets = call.args[_SHAPE], call.args[_OFFSETS]
    if not isinstance(shape, ir.MakeTuple) or not isinstance(offsets, ir.MakeTuple):
        raise PassError(f"{call.op.name}: shape and offsets must be written out here", function, call)
    size = _extent_of_window(shape.elements, source, parent)
    offset = _byte_offset(call, offsets.elements, source, function)
    start = constant_extent(offset)
    if start == 0 and size == parent.size_:
        return parent
    return ir.MemRef(parent.base_, total(parent.byte_offset_, offset), size)


def _extent_of_window(shape: Sequence[ir.Expr], source: ir.ShapedType, parent: ir.MemRef) -> int:
    """Bytes from the first element of a window to its last, all of the source where that is not known."""
    last, step = 0, 1
    for extent, whole in zip(reversed(shape), reversed(source.shape), strict=True):
        count, limit = constant_extent(extent), constant_extent(whole)
        if count is None or limit is None or count > limit:
            return parent.size_
        last += (count - 1) * step
        step *= limit
    return packed_bytes(last + 1, source.dtype)


def _byte_offset(
    call: ir.Call, offsets: Sequence[ir.Expr], source: ir.ShapedType, function: ir.Function
) -> ir.Expr:
    elements: ir.Expr = index(0)
    for offset, stride in zip(offsets, packed(source.shape), strict=True):
        elements = total(elements, product(offset, stride))
    bits = element_bits(source.dtype)
    if bits % _BYTE == 0:
        return product(elements, index(bits // _BYTE))
    start = constant_extent(elements)
    if start is None or start * bits % _BYTE:
        what = "two elements share a byte: the window must begin at a byte, by a constant offset"
        raise PassError(f"{call.op.name} of {source.dtype.name}: {what}", function, call)
    return index(start * bits // _BYTE)
