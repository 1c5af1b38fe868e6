"""Places of tiles: the bytes of an allocation that a type names, and how elements lie there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeGuard

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ir.dtypes import HALF_BYTE, packed_bytes
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.ops import OpTable
from pypto_tmpl.storage.boxes import ACC_ROWS, WIDE_ACC_ROWS, Boxes, boxes_of
from pypto_tmpl.storage.slots import SlotRing, SlotRings

_OFFSETS = 2  # of a window, among the operands of the op
_SIZE = 1  # of an allocation
ALIGNMENT = 32  # bytes: tiles begin at multiples of them


@dataclass(frozen=True, slots=True)
class Place:
    """Bytes in which a tile lies: an offset from its base, or where addresses are planned from its memory."""

    space: ir.MemorySpace
    base: ir.Var
    offset: ir.Expr
    dtype: ir.DataType
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    room: int  # bytes within which it lies, from the constant part of its offset on
    is_moving: bool = False  # it begins behind its offset, and where is known at run time only
    boxes: Boxes | None = None  # in which it lies, if it does
    valid: tuple[int, ...] | None = None  # extents of the part with values, None where that may be all

    @property
    def address(self) -> int | None:
        """The offset, None where it is known at run time only."""
        return None if self.is_moving else constant_extent(self.offset)

    @property
    def reach(self) -> tuple[int, int]:
        """The first byte in which it may lie, and the one behind the last."""
        start = _constant_part(self.offset)
        return start, start + self.room

    @property
    def valid_reach(self) -> tuple[int, int]:
        """The reach of the elements that have values, as far as it is known: nobody reads the others."""
        start, end = self.reach
        if self.valid is None or self.boxes is not None or self.address is None:
            return start, end
        return start, start + packed_bytes(_elements(self.valid, self.strides, None), self.dtype)

    @property
    def size(self) -> int:
        """Bytes from the first element to the last."""
        return packed_bytes(_elements(self.shape, self.strides, self.boxes), self.dtype)

    @property
    def is_dense(self) -> bool:
        """Whether rows follow each other without gaps."""
        return self.strides == packed_strides(self.shape)

    @property
    def is_gapless(self) -> bool:
        """Whether rows follow each other without gaps, or columns do."""
        return self.size == packed_bytes(prod(self.shape), self.dtype)

    @property
    def is_packed(self) -> bool:
        """Whether two elements share a byte."""
        return self.dtype.get_bit() == HALF_BYTE

    @property
    def is_plain(self) -> bool:
        """Whether a view of its bytes is the tile by row and column, which needs no unpacking."""
        return self.boxes is None and not self.is_packed

    def is_same(self, other: Place) -> bool:
        """Whether tiles in both are the same elements."""
        mine, others = (self.dtype, self.shape, self.strides, self.boxes), (
            other.dtype, other.shape, other.strides, other.boxes
        )  # fmt: skip
        return mine == others and self.starts_with(other)

    def is_there(self, other: Place) -> bool:
        """Whether what lies here is in the other place already, which may be known at run time only."""
        return self.is_same(other) or self.is_moving and other.is_moving and self.base is other.base

    @property
    def is_whole(self) -> bool:
        """Whether it lies in boxes that have a cell for each of its elements, and none besides."""
        return self.boxes is not None and self.shape == (self.boxes.rows, self.boxes.columns)

    @property
    def layout(self) -> str:
        """How elements lie, in words."""
        if self.boxes is not None:
            return f"in boxes ({self.boxes.name})"
        return "row by row" if self.is_dense else "with other strides"

    def starts_with(self, other: Place) -> bool:
        """Whether both are known to begin at the same byte."""
        is_same_offset = self.offset is other.offset or (
            self.address is not None and self.address == other.address
        )
        return self.base is other.base and self.space is other.space and is_same_offset

    def may_overlap(self, other: Place) -> bool:
        """Whether places in one pool may have bytes in common."""
        (start, end), (other_start, other_end) = self.reach, other.reach
        return start < other_end and other_start < end


def _elements(shape: tuple[int, ...], strides: tuple[int, ...], boxes: Boxes | None) -> int:
    if boxes is not None:
        return boxes.extent
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of elements that lie row by row."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


@dataclass(frozen=True, slots=True)
class Allocation:
    """What an allocation says: its memory, as a number, and its bytes; None of what is no constant."""

    var: ir.Var
    space: int | None
    size: int | None

    @property
    def memory(self) -> ir.MemorySpace | None:
        """The memory, None of a number that none has."""
        return next((known for known in ir.MemorySpace if known.value == self.space), None)


class FunctionPlaces:
    """The places of the tiles of one function."""

    def __init__(self, function: ir.Function, table: OpTable) -> None:
        self._table = table
        self._places: dict[int, Place] = {}
        self.allocations = {id(found.var): found for found in self._allocations(function)}
        self.rings = SlotRings(function, table)
        first: dict[int, tuple[ir.Var, ir.Stmt]] = {}
        for var, stmt in all_definitions(function):
            if isinstance(var.type, ir.TileType):
                first.setdefault(id(var), (var, stmt))  # what is assigned again stays where it is
        self.definitions = [(var, value_of(var, stmt)) for var, stmt in first.values()]
        self._has_wide_acc_rows = all(_has_wide_acc_rows(var) for var, _ in self.definitions)
        if self._place():
            while self._place():  # results of branches come before what these yield
                pass

    def _place(self) -> bool:
        """Give all tiles their places, by what is known of others.

        Whether that may change once more: one has got another place, or shows one that comes later.
        """
        before, waits = dict(self._places), False
        later = {id(var) for var, _ in self.definitions}.difference(before)
        for var, value in self.definitions:
            place = self._placed(var, value)
            later.discard(id(var))
            if place is not None:
                self._places[id(var)] = place
                waits = waits or id(self.source(value)) in later
        return waits or bool(before) and self._places != before

    def source(self, value: ir.Expr | None) -> ir.Expr | None:
        """The tile by whose place that of a value is known."""
        return value if isinstance(value, ir.Var) else self.viewed(value) or self._returned(value)

    def _allocations(self, function: ir.Function) -> Iterator[Allocation]:
        for stmt in statements(function.body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
            if not isinstance(stmt, ir.AssignStmt) or not isinstance(value, ir.Call):
                continue
            if self._table.facts(value.op.name).has("reserves") and len(value.args) > _SIZE:
                yield Allocation(stmt.var, constant_extent(value.args[0]), constant_extent(value.args[_SIZE]))

    def size_of(self, base: ir.Var) -> int | None:
        """The bytes of an allocation, None where they are not known."""
        found = self.allocations.get(id(base))
        return None if found is None else found.size

    def of(self, value: ir.Expr) -> Place | None:
        """The place of a variable; None of what has none, or one whose layout is not known here."""
        return self._places.get(id(value))

    def all(self) -> Iterable[Place]:
        """The places of all variables that have one, in the order of the text."""
        return self._places.values()

    def slots_of(self, place: Place) -> SlotRing | None:
        """The slots of which a place is one, whichever it is then."""
        return next((ring for ring in self.rings if ring.buffer is place.base), None)

    def workspaces(self, value: ir.Expr | None) -> list[ir.Var]:
        """The tiles with a place that an op may write in any way: those of its operands that are scratch."""
        entry = self._table.get(value.op.name) if isinstance(value, ir.Call) else None
        if entry is None or not isinstance(value, ir.Call):
            return []
        pairs = list(zip(value.args, entry.operands, strict=False))
        scratch = [arg for arg, operand in pairs if operand.scratch]
        read = {id(arg) for arg, operand in pairs if not operand.scratch}
        return [arg for arg in scratch if isinstance(arg, ir.Var) and id(arg) not in read and self.of(arg)]

    def is_view(self, var: ir.Var, value: ir.Expr) -> bool:
        """Whether a variable shows the bytes of the operand of an op, which moves nothing."""
        source = self.viewed(value)
        return self.of(var) is not None and source is not None and self.of(source) is not None

    def window_source(self, value: ir.Expr) -> ir.Expr | None:
        """The tile of which a value is a window."""
        return self.viewed(value) if self.is_window(value) else None

    def _is_moving_window(self, value: ir.Expr | None) -> bool:
        if not self.is_window(value):
            return False
        offsets = value.args[_OFFSETS]
        return not isinstance(offsets, ir.MakeTuple) or any(
            constant_extent(offset) is None for offset in offsets.elements
        )

    def _begins_within_a_byte(self, value: ir.Expr | None, source: Place) -> bool:
        """Whether a window, by constant offsets, begins at the second of two elements that share a byte."""
        if not source.is_packed or not self.is_window(value):
            return False
        offsets = value.args[_OFFSETS]
        if not isinstance(offsets, ir.MakeTuple):
            return False
        starts = [constant_extent(offset) or 0 for offset in offsets.elements]
        return sum(start * stride for start, stride in zip(starts, source.strides, strict=False)) % 2 == 1

    def pools(self, has_addresses: bool) -> Mapping[ir.MemorySpace | ir.Var, int]:
        """The bytes of each pool: one for a memory, or where no addresses are planned for an allocation."""
        ends: dict[ir.MemorySpace | ir.Var, int] = {}
        for place in self.all():
            pool = pool_of(place, has_addresses)
            ends[pool] = max(ends.get(pool, 0), place.reach[1])
        return ends

    def _in_slot(self, type_: ir.Type, ring: SlotRing) -> Place | None:
        """The place of a tile that comes out of a pipe: one of its slots."""
        shape = static_shape(type_)
        if not isinstance(type_, ir.TileType) or type_.memory_space is None or shape is None:
            return None
        view = type_.get_effective_tile_view()
        return Place(
            type_.memory_space,
            ring.buffer,
            ring.offset,
            type_.dtype,
            shape,
            _strides(shape, view),
            ring.room,
            is_moving=True,
            boxes=boxes_of(view, shape, type_.dtype),
        )

    def _placed(self, var: ir.Var, value: ir.Expr | None) -> Place | None:
        type_, ring = var.type, self.rings.of(value)
        if ring is not None:
            return self._in_slot(type_, ring)
        if not isinstance(type_, ir.TileType) or type_.memref is None or type_.memref.is_pinned_:
            return None  # a buffer that is only declared is allocated later
        space, shape = type_.memory_space, tuple(constant_extent(extent) for extent in type_.shape)
        if space is ir.MemorySpace.DDR or space is None:
            return None
        extents = tuple(extent for extent in shape if extent is not None)
        view = type_.get_effective_tile_view()
        if len(extents) != len(shape):
            return None
        is_wide = type_.dtype == ir.DataType.INT32 and self._has_wide_acc_rows
        boxes = boxes_of(view, extents, type_.dtype, WIDE_ACC_ROWS if is_wide else ACC_ROWS)
        memref = type_.memref
        strides, is_moving = _strides(extents, view), False
        source = self.source(value)
        other = None if source is None else self.of(source)
        if other is not None and other.base is memref.base_:
            is_moving = other.is_moving or self._is_moving_window(value)
            is_moving = is_moving or self.is_window(value) and other.boxes is not None
            is_moving = is_moving or self._begins_within_a_byte(value, other)
            is_cut = self.is_window(value) and len(other.shape) == len(extents)
            is_alike = (other.shape, other.dtype) == (extents, type_.dtype) and not other.is_gapless
            if is_cut or is_alike:
                strides = other.strides  # a window has the pitch of what it is cut from, which no type says
            if is_cut and other.boxes is not None and boxes is None:
                boxes = other.boxes.part(*extents)
        if other is not None and isinstance(value, ir.Var):
            # types of carries may be wider than their values
            extents, strides, boxes = other.shape, other.strides, other.boxes
        offset, room = memref.byte_offset_, packed_bytes(_elements(extents, strides, boxes), type_.dtype)
        if is_moving and other is not None:
            offset, room = other.offset, other.room
        elif constant_extent(offset) is None:
            room = max(room, self.size_of(memref.base_) or 0)
        return Place(
            space,
            memref.base_,
            offset,
            type_.dtype,
            extents,
            strides,
            room,
            is_moving,
            boxes,
            _valid(view, extents),
        )

    def _returned(self, value: ir.Expr | None) -> ir.Expr | None:
        """The operand that an op changes and gives back."""
        if not isinstance(value, ir.Call) or isinstance(value.op, ir.GlobalVar):
            return None
        at = self._table.facts(value.op.name).returned
        return None if at is None else value.args[at]

    def is_window(self, value: ir.Expr | None) -> TypeGuard[ir.Call]:
        """Whether a value is cut from another tile, whose pitch it has."""
        return isinstance(value, ir.Call) and self._table.facts(value.op.name).has("window")

    def viewed(self, value: ir.Expr | None) -> ir.Expr | None:
        """The operand whose storage an op only shows."""
        if not isinstance(value, ir.Call) or isinstance(value.op, ir.GlobalVar):
            return None
        facts = self._table.facts(value.op.name)
        return None if facts.view_of is None or facts.returned is not None else value.args[facts.view_of]


def _valid(view: ir.TileView, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The extents of the valid part of a tile, None where they are those of all of it or not known."""
    extents = tuple(constant_extent(extent) for extent in view.valid_shape)
    known = tuple(extent for extent in extents if extent is not None)
    if len(known) != len(shape):
        return None
    valid = tuple(max(0, min(pair)) for pair in zip(known, shape, strict=True))
    return None if valid == shape else valid


def _has_wide_acc_rows(var: ir.Var) -> bool:
    """Whether the bytes of an accumulator of INT32 are those of more rows than 16 of the machine; else true.

    No type says for which generation of hardware it is.
    """
    type_, shape = var.type, static_shape(var.type)
    if not isinstance(type_, ir.TileType) or type_.memref is None or shape is None:
        return True
    if type_.memory_space is not ir.MemorySpace.Acc or type_.dtype != ir.DataType.INT32:
        return True
    rows, columns = shape[-2:]
    return type_.memref.size_ >= -(-rows // WIDE_ACC_ROWS) * WIDE_ACC_ROWS * columns * type_.dtype.get_byte()


def static_shape(type_: ir.Type) -> tuple[int, ...] | None:
    """The extents of a tile, None where one of them is no number."""
    shape = [constant_extent(extent) for extent in type_.shape] if isinstance(type_, ir.TileType) else [None]
    known = tuple(extent for extent in shape if extent is not None)
    return known if len(known) == len(shape) else None


def pool_of(place: Place, has_addresses: bool) -> ir.MemorySpace | ir.Var:
    """What the offset of a place counts in."""
    return place.space if has_addresses else place.base


def has_addresses(functions: Iterable[ir.Function]) -> bool:
    """Whether allocations have addresses: before, all of them begin at 0, each in itself.

    Of an allocation in which only windows are left nothing need begin at 0: they lie within it all the same.
    """
    return any(map(_has_addresses, functions))


def _has_addresses(function: ir.Function) -> bool:
    """Whether all allocations begin behind 0, or one has tiles that are not within its size from 0 on."""
    sizes: dict[int, int] = {}
    reaches: dict[int, tuple[int, int]] = {}
    for var, stmt in all_definitions(function):
        type_, value = var.type, stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if isinstance(type_, ir.PtrType) and isinstance(value, ir.Call) and len(value.args) > _SIZE:
            sizes[id(var)] = constant_extent(value.args[_SIZE]) or 0
        if not isinstance(type_, ir.TileType) or type_.memref is None or type_.memref.is_pinned_:
            continue
        if type_.memory_space is not ir.MemorySpace.DDR:
            start = _constant_part(type_.memref.byte_offset_)
            first, end = reaches.get(id(type_.memref.base_), (start, start))
            reaches[id(type_.memref.base_)] = min(first, start), max(end, start + type_.memref.size_)
    behind = {base: end for base, (first, end) in reaches.items() if first != 0}
    return bool(behind) and (
        len(behind) == len(reaches) or any(end > sizes.get(base, 0) for base, end in behind.items())
    )


def _strides(shape: tuple[int, ...], view: ir.TileView) -> tuple[int, ...]:
    if 1 in shape[-2:]:
        return packed_strides(shape)  # a row and a column lie alike
    if view.blayout is ir.TileLayout.col_major and len(shape) > 1:
        return (*packed_strides((*shape[:-2], shape[-1], shape[-2]))[:-2], 1, shape[-2])
    return packed_strides(shape)


def lies_alike(one: ir.TileType, other: ir.TileType) -> bool:
    """Whether tiles of two types have the same elements at the same distances from the first byte."""
    if not same_extents(one.shape, other.shape):
        return False
    shape, views = static_shape(one), [type_.get_effective_tile_view() for type_ in (one, other)]
    if shape is None:
        return len({(view.blayout, view.slayout, view.fractal) for view in views}) == 1
    layouts = {(_strides(shape, view), boxes_of(view, shape, one.dtype)) for view in views}
    return len(layouts) == 1


def has_places(functions: Iterable[ir.Function]) -> bool:
    """Whether some tile has a place in an allocation, with or without an address.

    That a program declares a buffer for a tile, as one of slots, is none yet.
    """
    return any(
        isinstance(var.type, ir.TileType) and var.type.memref is not None and not var.type.memref.is_pinned_
        for function in functions
        for var, _ in all_definitions(function)
    )


def value_of(var: ir.Var, stmt: ir.Stmt) -> ir.Expr | None:
    """What a variable is bound to first: a value, what a loop starts with, or what a branch yields."""
    if isinstance(stmt, ir.AssignStmt):
        return stmt.value
    if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
        if isinstance(var, ir.IterArg):
            return var.initValue
        pairs: Iterator[tuple[ir.Var, ir.Expr]] = zip(stmt.return_vars, stmt.iter_args, strict=False)
    elif isinstance(stmt, ir.IfStmt):
        last = trailing_yield(stmt.then_body)
        pairs = zip(stmt.return_vars, () if last is None else last.value, strict=False)
    else:
        return None
    return next((value for bound, value in pairs if bound is var), None)


def _constant_part(offset: ir.Expr) -> int:
    """The number in a sum, 0 where there is none."""
    if isinstance(offset, ir.Add):
        return _constant_part(offset.left) + _constant_part(offset.right)
    return constant_extent(offset) or 0
