"""Expressions (spec: IR, sections 6 and 7). Field order is wire order, constructor order upstream's."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, overload

from pypto_tmpl.ir.attrs import AttrKind, AttrMap, AttrSource
from pypto_tmpl.ir.base import (
    IGNORED,
    Expr,
    Type,
    check_int64,
    check_kind,
    check_uint64,
    node_tuple,
    set_fields,
)
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ArgDirection, MemorySpace
from pypto_tmpl.ir.extents import as_extent, constant_extent
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.types import (
    MemRefType,
    PtrType,
    ScalarType,
    TupleType,
    UnknownType,
    WindowBufferType,
)

_unique_ids = itertools.count()


def next_unique_id() -> int:
    """Number of the next variable to be constructed."""
    return next(_unique_ids)


@dataclass(frozen=True)
class Op:
    """A registered operator, compared by name."""

    name: str


@dataclass(frozen=True)
class GlobalVar(Op):
    """The name of a function of the same program."""


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Var(Expr):
    """A variable: its identity is the object, ``name_hint`` is only a label."""

    name_hint: Annotated[str, IGNORED]
    _unique_id: int = field(repr=False)

    def __init__(self, name_hint: str, type: Type, span: Span) -> None:
        _set_var_fields(self, name_hint, type, span)

    @property
    def unique_id(self) -> int:
        """Process-wide number of this variable, increasing in order of construction."""
        return self._unique_id

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} {self.name_hint}>"


def _set_var_fields(var: Var, name_hint: str, type_: Type, span: Span) -> None:
    check_kind(name_hint, str, "name_hint", var)
    check_kind(type_, Type, "type", var)
    set_fields(var, span=span, type=type_, name_hint=name_hint, _unique_id=next_unique_id())


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class IterArg(Var):
    """A loop-carried value."""

    initValue: Expr

    def __init__(self, name_hint: str, type: Type, initValue: Expr, span: Span) -> None:
        check_kind(initValue, Expr, "initValue", self)
        _set_var_fields(self, name_hint, type, span)
        set_fields(self, initValue=initValue)


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
        if slots < 1:
            raise ValueError(f"a MemRef has at least one slot, got {slots}")
        check_uint64(slots, "the number of slots of a MemRef is")
        if where and isinstance(where[-1], Span):
            where, span = where[:-1], where[-1]
        at = span or Span.unknown()
        if len(where) < 2:
            is_pinned = True
        base, offset, size = _memref_place(where, at)
        check_kind(slot, (Expr, type(None)), "slot", self)
        check_uint64(size, "the size of a MemRef is")
        _set_var_fields(self, base.name_hint, MemRefType(), at)
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
        _set_var_fields(self, base.name_hint, WindowBufferType(), span or Span.unknown())
        set_fields(
            self, base=base, size=as_extent(size), load_from_host=load_from_host, store_to_host=store_to_host
        )


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConstInt(Expr):
    """An integer constant; ``value`` is an int64 and not checked against the dtype."""

    value: int

    def __init__(self, value: int, dtype: DataType, span: Span) -> None:
        check_kind(value, int, "value", self)
        check_int64(value, "a ConstInt holds")
        set_fields(self, span=span, type=ScalarType(dtype), value=value)

    @property
    def dtype(self) -> DataType:
        return _scalar_dtype(self)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConstFloat(Expr):
    """A floating-point constant, held as a double."""

    value: float

    def __init__(self, value: float, dtype: DataType, span: Span) -> None:
        check_kind(value, (float, int), "value", self)
        set_fields(self, span=span, type=ScalarType(dtype), value=float(value))

    @property
    def dtype(self) -> DataType:
        return _scalar_dtype(self)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConstBool(Expr):
    value: bool

    def __init__(self, value: bool, span: Span) -> None:
        check_kind(value, bool, "value", self)
        set_fields(self, span=span, type=ScalarType(DataType.BOOL), value=value)

    @property
    def dtype(self) -> DataType:
        return DataType.BOOL


def _scalar_dtype(expr: Expr) -> DataType:
    assert isinstance(expr.type, ScalarType)
    return expr.type.dtype


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Call(Expr):
    """Call of an operator, or of a function of the same program when ``op`` is a GlobalVar.

    Constructors: ``(op, args, span)``, ``(op, args, type, span)``, ``(op, args, kwargs, span)``,
    ``(op, args, kwargs, type, span)``, ``(op, args, kwargs, attrs, type, span)``.
    """

    op: Op
    args: tuple[Expr, ...]
    attrs: AttrMap
    kwargs: AttrMap

    @overload
    def __init__(self, op: Op, args: Iterable[Expr], span: Span, /) -> None: ...
    @overload
    def __init__(
        self, op: Op, args: Iterable[Expr], type_or_kwargs: Type | AttrSource, span: Span, /
    ) -> None: ...
    @overload
    def __init__(
        self, op: Op, args: Iterable[Expr], kwargs: AttrSource, type: Type, span: Span, /
    ) -> None: ...
    @overload
    def __init__(
        self, op: Op, args: Iterable[Expr], kwargs: AttrSource, attrs: AttrSource, type: Type, span: Span, /
    ) -> None: ...
    def __init__(self, op: Op, args: Iterable[Expr], *rest: Any) -> None:
        check_kind(op, Op, "op", self)
        kwargs: AttrSource = None
        attrs: AttrSource = None
        type_: Type = UnknownType()
        match rest:
            case (Span() as span,):
                pass
            case (Type() as type_, Span() as span):
                pass
            case (kwargs, Span() as span):
                pass
            case (kwargs, Type() as type_, Span() as span):
                pass
            case (kwargs, attrs, Type() as type_, Span() as span):
                pass
            case _:
                raise TypeError("Call takes (op, args[, kwargs[, attrs]][, type], span)")
        operands = node_tuple(args, Expr, "args", self)
        stored = AttrMap(attrs)
        check_arg_directions(stored, len(operands))
        keywords = AttrMap(kwargs, of_op=True)
        set_fields(self, span=span, type=type_, op=op, args=operands, attrs=stored, kwargs=keywords)

    @property
    def arg_directions(self) -> tuple[ArgDirection, ...]:
        return tuple(self.attrs.get("arg_directions", ()))


def check_arg_directions(attrs: AttrMap, arg_count: int) -> None:
    """Raise TypeError unless ``arg_directions``, where given, is empty or has one entry per argument."""
    if "arg_directions" not in attrs:
        return
    if attrs.kinds["arg_directions"] is not AttrKind.ARG_DIRECTIONS:
        raise TypeError("arg_directions is a list of ArgDirection")
    count = len(attrs["arg_directions"])
    if count not in (0, arg_count):
        raise TypeError(f"{count} arg_directions for {arg_count} arguments")


def set_call_attrs(call: Call, attrs: AttrSource) -> Call:
    """A copy of ``call`` with other attributes."""
    return Call(call.op, call.args, call.kwargs, attrs, call.type, call.span)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Submit(Expr):
    """Asynchronous launch of a function; its value is the callee's returns and a TASK_ID.

    Raises ValueError for ``sync_start`` without ``core_num``, TypeError for a ``core_num`` that is a
    scalar but no integer.
    """

    op: Op
    args: tuple[Expr, ...]
    deps: tuple[Expr, ...]
    core_num: Expr | None
    sync_start: bool
    allow_early_resolve: bool
    predicate: Expr | None
    attrs: AttrMap
    kwargs: AttrMap

    def __init__(
        self,
        op: Op,
        args: Iterable[Expr],
        deps: Iterable[Expr],
        *rest: Any,
        core_num: int | Expr | None = None,
        sync_start: bool = False,
        allow_early_resolve: bool = False,
        predicate: Expr | None = None,
    ) -> None:
        match rest:
            case (Type() as type_, Span() as span):
                kwargs: AttrSource = None
                attrs: AttrSource = None
            case (kwargs, attrs, Type() as type_, Span() as span, *launch) if len(launch) <= 4:
                given: list[Any] = [core_num, sync_start, allow_early_resolve, predicate]
                core_num, sync_start, allow_early_resolve, predicate = launch + given[len(launch) :]
            case _:
                raise TypeError("Submit takes (op, args, deps[, kwargs, attrs], type, span, ...)")
        check_kind(op, Op, "op", self)
        operands = node_tuple(args, Expr, "args", self)
        blocks = None if core_num is None else as_extent(core_num)
        if sync_start and blocks is None:
            raise ValueError("sync_start needs a core_num")
        if blocks is not None and isinstance(blocks.type, ScalarType) and not blocks.type.dtype.is_int():
            raise TypeError(f"core_num is an integer scalar, got {blocks.type.dtype.name}")
        check_kind(predicate, (Expr, type(None)), "predicate", self)
        stored = AttrMap(attrs)
        check_arg_directions(stored, len(operands))
        set_fields(
            self,
            span=span,
            type=type_,
            op=op,
            args=operands,
            deps=node_tuple(deps, Expr, "deps", self),
            core_num=blocks,
            sync_start=sync_start,
            allow_early_resolve=allow_early_resolve,
            predicate=predicate,
            attrs=stored,
            kwargs=AttrMap(kwargs, of_op=True),
        )

    @property
    def arg_directions(self) -> tuple[ArgDirection, ...]:
        return tuple(self.attrs.get("arg_directions", ()))


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class MakeTuple(Expr):
    elements: tuple[Expr, ...]

    def __init__(self, elements: Iterable[Expr], span: Span) -> None:
        found = node_tuple(elements, Expr, "elements", self)
        set_fields(self, span=span, type=TupleType([e.type for e in found]), elements=found)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class TupleGetItemExpr(Expr):
    """Element ``index`` of a tuple; ValueError if the operand is no tuple or the index outside it."""

    tuple: Expr
    index: int

    def __init__(self, tuple: Expr, index: int, span: Span) -> None:
        check_kind(tuple, Expr, "tuple", self)
        check_kind(index, int, "index", self)
        if not isinstance(tuple.type, TupleType):
            raise ValueError(f"the operand has type {type(tuple.type).__name__}, not TupleType")
        if not 0 <= index < len(tuple.type.types):
            raise ValueError(f"index {index} is outside a tuple of {len(tuple.type.types)}")
        set_fields(self, span=span, type=tuple.type.types[index], tuple=tuple, index=index)
