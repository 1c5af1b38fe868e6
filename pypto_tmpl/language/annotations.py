"""What annotations evaluate to when Python runs a definition: plain records of what is written.

The language reads annotations as text. These objects let a module with kernels be imported, and tell
tools that look at signatures what they say.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType, ParamDirection
from pypto_tmpl.ir.build import scalar_dtype


def _no_expression(self: object) -> NoReturn:
    """Refused: what an annotation spells holds no expression."""
    name = type(self).__name__ if not isinstance(self, Annotation) else self.kind
    raise RuntimeError(f"pl.{name} spells a type in an annotation; there is no expression in it to unwrap")


class Dimension:
    """Base of extents that are known at run time only; arithmetic on them is recorded."""

    def __add__(self, other: object) -> DimExpr:
        return DimExpr("+", self, other)

    def __radd__(self, other: object) -> DimExpr:
        return DimExpr("+", other, self)

    def __sub__(self, other: object) -> DimExpr:
        return DimExpr("-", self, other)

    def __rsub__(self, other: object) -> DimExpr:
        return DimExpr("-", other, self)

    def __mul__(self, other: object) -> DimExpr:
        return DimExpr("*", self, other)

    def __rmul__(self, other: object) -> DimExpr:
        return DimExpr("*", other, self)

    def __floordiv__(self, other: object) -> DimExpr:
        return DimExpr("//", self, other)

    def __rfloordiv__(self, other: object) -> DimExpr:
        return DimExpr("//", other, self)

    def __mod__(self, other: object) -> DimExpr:
        return DimExpr("%", self, other)

    def __rmod__(self, other: object) -> DimExpr:
        return DimExpr("%", other, self)


@dataclass(frozen=True, slots=True)
class DynVar(Dimension):
    """A dimension known at run time only, by its name; equal names are one dimension in a program."""

    name: str

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.isidentifier()):
            raise ValueError(f"{self.name!r} is no name for a dimension")

    unwrap = _no_expression


@dataclass(frozen=True, slots=True)
class DimExpr(Dimension):
    """``left op right`` with a dimension on at least one side."""

    op: str
    left: object
    right: object


def dynamic(name: str) -> DynVar:
    """The dimension of that name; ValueError where it is no identifier."""
    return DynVar(name)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A type as it is written: ``pl.Tensor[[4, N], pl.FP32, pl.ND]``."""

    kind: str
    parts: tuple[Any, ...]

    @property
    def shape(self) -> tuple[Any, ...] | None:
        """The extents, or None for a type without a shape."""
        found = self.parts[0] if self.parts and self.kind in _SHAPED else None
        return tuple(found) if isinstance(found, (list, tuple)) else None

    @property
    def dtype(self) -> DataType | None:
        """The first data type among the parts."""
        return next((part for part in self.parts if isinstance(part, DataType)), None)

    @property
    def extras(self) -> tuple[Any, ...]:
        """What follows shape and dtype: layouts, views, memory spaces and MemRefs."""
        return self.parts[2:] if self.kind in _SHAPED else ()

    unwrap = _no_expression


@dataclass(frozen=True, slots=True)
class Directed:
    """``pl.Out[T]`` or ``pl.InOut[T]``."""

    inner: Any
    direction: ParamDirection


class _Spelling:
    """Base of the names that annotations start with; subscripts and calls record their arguments."""

    def __class_getitem__(cls, parts: Any) -> Any:
        return Annotation(cls.__name__, parts if isinstance(parts, tuple) else (parts,))

    def __new__(cls, *parts: Any) -> Any:
        return Annotation(cls.__name__, parts)

    unwrap = _no_expression

    if TYPE_CHECKING:  # in a kernel the name is a value of that type, whose parts are read and written

        def __getitem__(self, index: Any) -> Any: ...

        def __setitem__(self, index: Any, value: Any) -> None: ...


class Tensor(_Spelling):
    """``pl.Tensor[[extents], dtype, layout or view, memref]``."""

    def bind_dynamic(self, dim: int, var: DynVar) -> NoReturn:
        """``x.bind_dynamic(0, N)`` in a JIT kernel: that extent is known at run time only."""
        raise RuntimeError("bind_dynamic is read where a JIT kernel spells it; Python cannot call it")


class Tile(_Spelling):
    """``pl.Tile[[extents], dtype, memref, space, view]``."""


class Scalar(_Spelling):
    """``pl.Scalar[dtype]``."""


class Array(_Spelling):
    """``pl.Array[extent, dtype]``: a small array of integers, BOOLs or task ids."""


class Tuple(_Spelling):
    """``pl.Tuple[T1, T2]``."""


class DistributedTensor(_Spelling):
    """``pld.DistributedTensor[[extents], dtype]``: a tensor in a communication window."""


class Ptr:
    """The type of an allocation."""

    unwrap = _no_expression

    @staticmethod
    def get() -> ir.PtrType:
        """The type of the IR."""
        return ir.PtrType()


class MemRefType:
    """The type of a memory reference."""


class PrefetchAsyncContext:
    """The type of what ``pl.prefetch.make_context`` gives."""


class AsyncEvent:
    """The type of what ``pl.prefetch.async_prefetch`` gives."""


class AsyncSession:
    """The type of what ``pl.prefetch.session`` gives."""


class CommCtx:
    """The type of a communication context."""

    unwrap = _no_expression


class _Direction:
    """Base of ``pl.Out`` and ``pl.InOut``."""

    direction: ClassVar[ParamDirection]

    def __class_getitem__(cls, inner: Any) -> Any:
        return Directed(inner, cls.direction)


class Out(_Direction):
    """``pl.Out[T]``: the function writes the argument."""

    direction = ParamDirection.Out


class InOut(_Direction):
    """``pl.InOut[T]``: the function reads and writes the argument."""

    direction = ParamDirection.InOut


class MemRef:
    """A buffer that annotations place tensors and tiles in; declared ones are told apart by identity."""

    def __init__(self, *args: Any, slots: int = 1, pinned: bool = False) -> None:
        self.args = args
        self.slots = slots
        self.pinned = pinned
        self.slot: Any = None

    def __getitem__(self, slot: Any) -> MemRef:
        found = MemRef(*self.args, slots=self.slots, pinned=self.pinned)
        found.slot = slot
        return found


@dataclass(frozen=True, slots=True)
class View:
    """``pl.TensorView(...)`` or ``pl.TileView(...)`` as it is written."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)


class _ViewSpelling:
    """Base of the names of views; calls record their fields."""

    allowed: ClassVar[tuple[str, ...]]

    def __new__(cls, **fields: Any) -> Any:
        for key in fields:
            if key not in cls.allowed:
                raise TypeError(f"{cls.__name__} takes no field {key!r}; fields: {', '.join(cls.allowed)}")
        return View(cls.__name__, fields)


TENSOR_VIEW_FIELDS = ("valid_shape", "stride", "layout", "pad")
TILE_VIEW_FIELDS = (
    "valid_shape",
    "stride",
    "start_offset",
    "blayout",
    "slayout",
    "fractal",
    "pad",
    "compact",
)


class TensorView(_ViewSpelling):
    """``pl.TensorView(valid_shape=..., stride=..., layout=..., pad=...)``."""

    allowed = TENSOR_VIEW_FIELDS


class TileView(_ViewSpelling):
    """``pl.TileView(valid_shape=..., ...)``: how a tile lies in its memory."""

    allowed = TILE_VIEW_FIELDS


TaskId = Annotation("Scalar", (DataType.TASK_ID,))
IntLike: TypeAlias = int | Scalar | ir.Expr
BoolLike: TypeAlias = bool | Scalar | ir.Expr


def predicate_to_expr(value: bool | ir.Expr | None, span: ir.Span | None = None) -> ir.Expr | None:
    """A condition as an expression, None for none. Raises TypeError for what is no BOOL."""
    if isinstance(value, bool):
        return ir.ConstBool(value, ir.Span.unknown() if span is None else span)
    if value is not None and (not isinstance(value, ir.Expr) or scalar_dtype(value) != DataType.BOOL):
        raise TypeError(f"a condition is a BOOL, got {value!r}")
    return value


_SHAPED = frozenset({"Tensor", "Tile", "DistributedTensor"})

PYTHON_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
"""What the operators of a DimExpr compute, on expressions and on numbers."""


class RuntimeScalarMarker:
    """Stands for a scalar argument of a JIT kernel that stays a run-time value."""

    unwrap = _no_expression

    def __repr__(self) -> str:
        return "pl.RUNTIME"


RUNTIME = RuntimeScalarMarker()
