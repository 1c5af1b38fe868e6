"""Tiles and allocations that cannot lie where they are to: bytes, memory, address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.backend import largest_capacity
from pypto_tmpl.ir.dtypes import packed_bytes
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.storage.boxes import FRACTALS
from pypto_tmpl.storage.places import ALIGNMENT, Allocation, FunctionPlaces, Place

_OFFSETS = 2  # of a window, among the operands of the op
LARGEST_MEMORY = 1 << 24  # bytes: more than any memory of a core has


def misfits(places: FunctionPlaces) -> Iterator[tuple[ir.Var, str]]:
    """The variables that cannot lie where they are to, with the reason: bytes, memory, address.

    Their bytes are not all in their allocation, in the tile that they show, or in a slot, begin within an
    element or where no tile can, are in no memory, beyond what any core has of it, in no allocation or in
    one of another memory, or more than their type has. Allocations are in no memory or too large.
    """
    for allocation in places.allocations.values():
        reason = _allocation_misfit(allocation)
        if reason is not None:
            yield allocation.var, reason
    starts: dict[int, int] = {}
    for tile, value in places.definitions:
        known = places.of(tile)
        if known is not None and places.viewed(value) is None:  # a view may be what lies wrong
            start = known.reach[0]
            starts[id(known.base)] = min(starts.get(id(known.base), start), start)
    for var, value in places.definitions:
        reason = _misfit(places, var, value, starts)
        if reason is not None:
            yield var, reason


def _misfit(
    places: FunctionPlaces, var: ir.Var, value: ir.Expr | None, starts: Mapping[int, int]
) -> str | None:
    place = places.of(var)
    if place is None:
        return _outside_of_memories(var.type)
    # a tile has all of its bytes; what is seen of it has those that are read
    reach = place.reach if places.source(value) is None else place.valid_reach
    return (
        _at_no_address(place)
        or _in_unknown_boxes(var.type)
        or _beyond_slot(places, place)
        or _in_no_allocation(places, place)
        or _in_other_memory(places, place)
        or _beyond_memories(place, reach)
        or _beyond_type(place, var)
        or _beyond_source(places, place, var, value)
        or _beyond_allocation(places, place, reach, starts)
        or _at_no_multiple(places, place, value)
    )


def _at_no_address(place: Place) -> str | None:
    """Of a tile whose first byte is told by a float."""
    if not isinstance(place.offset, ir.ConstFloat):
        return None
    return f"a tile of {place.size} bytes at {place.space.name} {place.offset.value}, which is no integer"


def _in_unknown_boxes(type_: ir.Type) -> str | None:
    """Of a tile in boxes of a size that none have."""
    view = type_.get_effective_tile_view() if isinstance(type_, ir.TileType) else None
    if view is None or view.slayout is ir.TileLayout.none_box or view.fractal in FRACTALS:
        return None
    known = ", ".join(map(str, FRACTALS))
    return f"a tile in boxes of {view.fractal} bytes, which there are not (there are boxes of {known})"


def _in_no_allocation(places: FunctionPlaces, place: Place) -> str | None:
    """Of a tile in what no statement has allocated."""
    if id(place.base) in places.allocations or places.slots_of(place) is not None:
        return None
    return f"{_what(place)}, in {place.base.name_hint!r}, which nothing allocates"


def _in_other_memory(places: FunctionPlaces, place: Place) -> str | None:
    """Of a tile in another memory than its allocation."""
    found = places.allocations.get(id(place.base))
    if found is None or found.memory in (None, place.space) or places.slots_of(place) is not None:
        return None
    return f"{_what(place)}, in an allocation of {found.memory.name}"


def _at_no_multiple(places: FunctionPlaces, place: Place, value: ir.Expr | None) -> str | None:
    """Of a tile of its own, no part of another one, that begins where none can."""
    first, step = place.reach[0], place.dtype.get_byte()
    if first % step:
        return f"{_what(place)}, which is no multiple of the {step} bytes of an element"
    if place.address is None or places.source(value) is not None or first % ALIGNMENT == 0:
        return None
    return f"{_what(place)}, which is no multiple of {ALIGNMENT}"


def _beyond_type(place: Place, var: ir.Var) -> str | None:
    """Of more elements than the bytes that a type says."""
    memref = var.type.memref if isinstance(var.type, ir.TileType) else None
    size = packed_bytes(prod(place.shape), place.dtype)
    if memref is None or memref.size_ >= size:
        return None
    at = f"at {place.space.name} {place.reach[0]:#x}"
    return f"a tile of {size} bytes {at}, for which its type has {memref.size_} bytes"


def _beyond_slot(places: FunctionPlaces, place: Place) -> str | None:
    slots = places.slots_of(place)
    if slots is None:
        return None
    what = f"a tile of {place.size} bytes in slots of {slots.size} bytes"
    if place.size > slots.size:
        return what
    if slots.room > slots.reserved:
        return f"{what}, of which {slots.count} are in a buffer of {slots.reserved} bytes"
    first = place.reach[0]
    if first % ALIGNMENT:
        return f"{what}, which begin at {place.space.name} {first:#x}, no multiple of {ALIGNMENT}"
    return None


def _beyond_source(places: FunctionPlaces, place: Place, var: ir.Var, value: ir.Expr | None) -> str | None:
    """Of a window that is cut, or of a view that is made, from another tile."""
    shown = places.viewed(value)
    source = None if shown is None else places.of(shown)
    if source is None or value is None or not places.is_view(var, value):
        return None
    at = f"of {place.size} bytes at {place.space.name} {place.reach[0]:#x}"
    if not places.is_window(value):
        return None if place.size <= source.size else f"a view {at}, of a tile of {source.size} bytes"
    offsets = value.args[_OFFSETS]
    if not isinstance(offsets, ir.MakeTuple) or len(offsets.elements) != len(source.shape):
        return None
    starts = [constant_extent(offset) for offset in offsets.elements]
    extents = [1] * (len(source.shape) - len(place.shape)) + [*(place.valid or place.shape)]
    spans = zip(starts, extents, source.shape, strict=True)
    if all(start is None or 0 <= start <= whole - extent for start, extent, whole in spans):
        return None
    begin = ", ".join(map(ir.python_print, offsets.elements))
    return f"a window {[*place.shape]} {at}, from [{begin}] on in a tile {[*source.shape]}"


def _beyond_allocation(
    places: FunctionPlaces, place: Place, reach: tuple[int, int], starts: Mapping[int, int]
) -> str | None:
    size = None if place.is_moving else places.size_of(place.base)
    first, end = reach
    start = starts.get(id(place.base), first)
    is_before = place.address is not None and place.address < start
    if first >= 0 and not is_before and (size is None or end <= start + size):
        return None
    of_size = "" if size is None else f" of {size} bytes"
    return f"{_what(place)}, in an allocation{of_size} from {start:#x} on"


def _allocation_misfit(allocation: Allocation) -> str | None:
    """Of an allocation that is in no memory, or larger than its memory can be."""
    what = f"an allocation of {'unknown size' if allocation.size is None else f'{allocation.size} bytes'}"
    if allocation.space is None:
        return None
    if allocation.memory is None:
        known = ", ".join(f"{known.value} {known.name}" for known in ir.MemorySpace)
        return f"{what} in memory {allocation.space}, which there is not (there are {known})"
    limit = _limit(allocation.memory)
    if allocation.size is None or allocation.size <= limit:
        return None
    return f"{what} in {allocation.memory.name}, of which no core has more than {limit}"


def _outside_of_memories(type_: ir.Type) -> str | None:
    """Of a tile that has an address in global memory."""
    if not isinstance(type_, ir.TileType) or type_.memref is None:
        return None
    if type_.memory_space is not ir.MemorySpace.DDR:
        return None
    address = constant_extent(type_.memref.byte_offset_)
    at = "" if address is None else f" at {address:#x}"
    return f"a tile of {type_.memref.size_} bytes{at} in DDR, which is no memory of a core"


def _what(place: Place) -> str:
    """A tile with its size and address, in words."""
    return f"a tile of {place.size} bytes at {place.space.name} {place.reach[0]:#x}"


def _limit(space: ir.MemorySpace) -> int:
    """The bytes of a memory on whichever backend has most of it: no dump says for which one it is."""
    return largest_capacity(space) or LARGEST_MEMORY


def _beyond_memories(place: Place, reach: tuple[int, int]) -> str | None:
    """Of a tile at an address that its memory cannot have."""
    limit = _limit(place.space)
    return f"{_what(place)}, and no core has more than {limit:#x} there" if reach[1] > limit else None
