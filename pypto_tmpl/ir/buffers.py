"""Storage that types name: ranges of allocations, and communication windows (spec: IR, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pypto_tmpl.ir.base import Expr, check_kind, check_uint64, set_fields
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import MemorySpace
from pypto_tmpl.ir.extents import as_extent, constant_extent, extent_of
from pypto_tmpl.ir.leaves import ConstInt, Var, set_var_fields
from pypto_tmpl.ir.scalar_types import MemRefType, PtrType, WindowBufferType
from pypto_tmpl.ir.span import Span


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class MemRef(Var):
    """A byte range of one allocation.

    Two MemRefs lie in one allocation exactly if they share the ``base_`` object. Constructor forms:
    ``(base, byte_offset, size)``, ``(base_name, byte_offset, size)``, ``(memory_space, offset, size, id)``,
    ``(offset, size, id)``, and the declarations ``()`` and ``(name)``, which are pinned. Raises ValueError
    for fewer than one slot.
    """

    base_: Var
    byte_offset_: Expr
    size_: int
    is_pinned_: bool
    slot_count_: int
    slot_index_: Expr | None

    def __init__(
        self,
        *where: Any,
        span: Span | None = None,
        is_pinned: bool = False,
        slots: int = 1,
        slot: Expr | None = None,
    ) -> None:
        check_kind(slots, int, "slots", self)
        check_kind(is_pinned, bool, "is_pinned", self)
        if slots < 1:
            raise ValueError(f"a MemRef has at least one slot, got {slots}")
        check_uint64(slots, "the number of slots of a MemRef is")
        if where and isinstance(where[-1], Span):
            where, span = where[:-1], where[-1]
        at = Span.unknown() if span is None else span
        check_kind(at, Span, "span", self)
        if len(where) < 2:
            is_pinned = True
        base, offset, size = _memref_place(where, at)
        check_kind(slot, (Expr, type(None)), "slot", self)
        check_uint64(size, "the size of a MemRef is")
        set_var_fields(self, base.name_hint, MemRefType(), at)
        set_fields(
            self,
            base_=base,
            byte_offset_=offset,
            size_=size,
            is_pinned_=is_pinned,
            slot_count_=slots,
            slot_index_=slot,
        )

    def __getitem__(self, index: int | Expr) -> MemRef:
        """Slot ``index`` of a pinned declaration; ValueError if not pinned or past the last slot."""
        if not self.is_pinned_:
            raise ValueError("only a pinned MemRef has slots to select")
        slot = as_extent(index)
        value = constant_extent(slot)
        if value is not None and not 0 <= value < self.slot_count_:
            raise ValueError(f"slot {value} of {self.slot_count_}")
        return MemRef(
            self.base_,
            self.byte_offset_,
            self.size_,
            span=self.span,
            is_pinned=True,
            slots=self.slot_count_,
            slot=slot,
        )

    @staticmethod
    def same_allocation(a: MemRef, b: MemRef) -> bool:
        return a.base_ is b.base_

    @staticmethod
    def may_alias(a: MemRef, b: MemRef) -> bool:
        """True unless the two ranges are known to be disjoint."""
        if a.base_ is not b.base_:
            return False
        first, second = constant_extent(a.byte_offset_), constant_extent(b.byte_offset_)
        if first is None or second is None:
            return True
        return first < second + b.size_ and second < first + a.size_


def _memref_place(where: tuple[Any, ...], span: Span) -> tuple[Var, Expr, int]:
    """Base, byte offset and size that the positional arguments of a MemRef name."""

    def pointer(name: str) -> Var:
        return Var(name, PtrType(), span)

    def offset(value: int | Expr, dtype: DataType) -> Expr:
        return value if isinstance(value, Expr) else ConstInt(value, dtype, span)

    match where:
        case ():
            return pointer(""), offset(0, DataType.INT64), 0
        case (str() as name,):
            return pointer(name), offset(0, DataType.INT64), 0
        case (MemorySpace() as space, start, size, number):
            return pointer(f"mem_{space.name.lower()}_{number}"), offset(start, DataType.INT64), size
        case (int() as start, int() as size, int() as number):
            return pointer(f"mem_{number}"), offset(start, DataType.INDEX), size
        case (str() as name, start, int() as size):
            return pointer(name), offset(start, DataType.INT64), size
        case (Var() as base, start, int() as size):
            return base, offset(start, DataType.INT64), size
    shown = ", ".join(type(value).__name__ for value in where)
    raise TypeError(f"no MemRef is built from ({shown})")


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class WindowBuffer(Var):
    """A communication window; ``size`` is bytes per rank."""

    base: Var
    size: Expr
    load_from_host: bool
    store_to_host: bool

    def __init__(
        self,
        base: Var,
        size: int | Expr,
        load_from_host: bool = False,
        store_to_host: bool = False,
        span: Span | None = None,
    ) -> None:
        check_kind(base, Var, "base", self)
        check_kind(load_from_host, bool, "load_from_host", self)
        check_kind(store_to_host, bool, "store_to_host", self)
        set_var_fields(self, base.name_hint, WindowBufferType(), Span.unknown() if span is None else span)
        set_fields(
            self,
            base=base,
            size=extent_of(size, "size", self),
            load_from_host=load_from_host,
            store_to_host=store_to_host,
        )
