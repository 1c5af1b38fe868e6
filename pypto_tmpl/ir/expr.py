"""Expressions (spec: IR, sections 6 and 7). Field order is wire order, constructor order upstream's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, overload

from pypto_tmpl.ir.attrs import AttrKind, AttrMap, AttrSource, attrs_of
from pypto_tmpl.ir.base import Expr, Type, check_kind, node_tuple, set_expr_fields
from pypto_tmpl.ir.enums import ArgDirection
from pypto_tmpl.ir.extents import extent_of
from pypto_tmpl.ir.scalar_types import ScalarType, TupleType, UnknownType
from pypto_tmpl.ir.span import Span


@dataclass(frozen=True)
class Op:
    """A registered operator, compared by name."""

    name: str
    declared_keywords: ClassVar[Callable[[str], Sequence[str]]]
    """The keywords of an op by its name. Nodes do not know what an op takes; the package says who does."""

    def __post_init__(self) -> None:
        check_kind(self.name, str, "name", self)

    def has_attr(self, key: str) -> bool:
        """Whether the registry declares that keyword of the op."""
        return key in self.get_attr_keys()

    def get_attr_keys(self) -> list[str]:
        """The keywords that the registry declares of the op, none for a name that it does not have."""
        return list(Op.declared_keywords(self.name))


@dataclass(frozen=True)
class GlobalVar(Op):
    """The name of a function of the same program."""


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
            case (span,):
                pass
            case (Type() as type_, span):
                pass
            case (kwargs, span):
                pass
            case (kwargs, type_, span):
                pass
            case (kwargs, attrs, type_, span):
                pass
            case _:
                raise TypeError("Call takes (op, args[, kwargs[, attrs]][, type], span)")
        operands = node_tuple(args, Expr, "args", self)
        stored = attrs_of(attrs, "attrs", self)
        _check_arg_directions(stored, len(operands), self)
        keywords = attrs_of(kwargs, "kwargs", self, of_op=True)
        set_expr_fields(self, span, type_, op=op, args=operands, attrs=stored, kwargs=keywords)

    @property
    def arg_directions(self) -> tuple[ArgDirection, ...]:
        return tuple(self.attrs.get("arg_directions", ()))

    def extent_parts(self) -> tuple[Hashable, tuple[Expr, ...]]:
        return self.op.name, self.args


def _check_arg_directions(attrs: AttrMap, arg_count: int, owner: Call | Submit) -> None:
    """Raise TypeError unless ``arg_directions``, where given, is empty or has one entry per argument."""
    if "arg_directions" not in attrs:
        return
    what = f"{type(owner).__name__}.attrs"
    if attrs.kinds["arg_directions"] is not AttrKind.ARG_DIRECTIONS:
        raise TypeError(f"{what}: arg_directions must be a list of ArgDirection")
    count = len(attrs["arg_directions"])
    if count not in (0, arg_count):
        raise TypeError(f"{what} has {count} arg_directions for {arg_count} arguments")


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
            case (type_, span):
                kwargs: AttrSource = None
                attrs: AttrSource = None
            case (kwargs, attrs, type_, span, *launch) if len(launch) <= 4:
                given: list[Any] = [core_num, sync_start, allow_early_resolve, predicate]
                core_num, sync_start, allow_early_resolve, predicate = launch + given[len(launch) :]
            case _:
                raise TypeError("Submit takes (op, args, deps[, kwargs, attrs], type, span, ...)")
        check_kind(op, Op, "op", self)
        operands = node_tuple(args, Expr, "args", self)
        blocks = None if core_num is None else extent_of(core_num, "core_num", self)
        check_kind(sync_start, bool, "sync_start", self)
        check_kind(allow_early_resolve, bool, "allow_early_resolve", self)
        if sync_start and blocks is None:
            raise ValueError("Submit.sync_start needs a core_num")
        if blocks is not None and isinstance(blocks.type, ScalarType) and not blocks.type.dtype.is_int():
            raise TypeError(f"Submit.core_num must be an integer scalar, got {blocks.type.dtype.name}")
        check_kind(predicate, (Expr, type(None)), "predicate", self)
        stored = attrs_of(attrs, "attrs", self)
        _check_arg_directions(stored, len(operands), self)
        set_expr_fields(
            self,
            span,
            type_,
            op=op,
            args=operands,
            deps=node_tuple(deps, Expr, "deps", self),
            core_num=blocks,
            sync_start=sync_start,
            allow_early_resolve=allow_early_resolve,
            predicate=predicate,
            attrs=stored,
            kwargs=attrs_of(kwargs, "kwargs", self, of_op=True),
        )

    @property
    def arg_directions(self) -> tuple[ArgDirection, ...]:
        return tuple(self.attrs.get("arg_directions", ()))


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class MakeTuple(Expr):
    elements: tuple[Expr, ...]

    def __init__(self, elements: Iterable[Expr], span: Span) -> None:
        found = node_tuple(elements, Expr, "elements", self)
        set_expr_fields(self, span, TupleType([e.type for e in found]), elements=found)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class TupleGetItemExpr(Expr):
    """Element ``index`` of a tuple; ValueError if the operand is no tuple or the index outside it."""

    tuple: Expr
    index: int

    def __init__(self, tuple: Expr, index: int, span: Span) -> None:
        check_kind(tuple, Expr, "tuple", self)
        check_kind(index, int, "index", self)
        if not isinstance(tuple.type, TupleType):
            raise ValueError(f"TupleGetItemExpr.tuple must have a TupleType, got {type(tuple.type).__name__}")
        if not 0 <= index < len(tuple.type.types):
            raise ValueError(f"TupleGetItemExpr.index: {index} is outside a tuple of {len(tuple.type.types)}")
        set_expr_fields(self, span, tuple.type.types[index], tuple=tuple, index=index)
