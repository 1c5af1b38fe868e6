"""Variables and constants (spec: IR, section 6)."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Annotated

from pypto_tmpl.ir.base import IGNORED, Expr, Type, check_int64, check_kind, set_expr_fields, set_fields
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.span import Span

_unique_ids = itertools.count()


def next_unique_id() -> int:
    """Number of the next variable to be constructed."""
    return next(_unique_ids)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Var(Expr):
    """A variable: its identity is the object, ``name_hint`` is only a label."""

    name_hint: Annotated[str, IGNORED]
    _unique_id: int = field(repr=False)

    def __init__(self, name_hint: str, type: Type, span: Span) -> None:
        set_var_fields(self, name_hint, type, span)

    @property
    def unique_id(self) -> int:
        """Process-wide number of this variable, increasing in order of construction."""
        return self._unique_id

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} {self.name_hint}>"


def set_var_fields(var: Var, name_hint: str, type_: Type, span: Span) -> None:
    """Set the fields of a variable that is being constructed."""
    check_kind(name_hint, str, "name_hint", var)
    set_expr_fields(var, span, type_, name_hint=name_hint, _unique_id=next_unique_id())


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class IterArg(Var):
    """A loop-carried value."""

    initValue: Expr

    def __init__(self, name_hint: str, type: Type, initValue: Expr, span: Span) -> None:
        check_kind(initValue, Expr, "initValue", self)
        set_var_fields(self, name_hint, type, span)
        set_fields(self, initValue=initValue)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConstInt(Expr):
    """An integer constant; ``value`` is an int64 and not checked against the dtype."""

    value: int

    def __init__(self, value: int, dtype: DataType, span: Span) -> None:
        check_kind(value, int, "value", self)
        check_int64(value, "a ConstInt holds")
        set_expr_fields(self, span, ScalarType(dtype), value=value)

    @property
    def dtype(self) -> DataType:
        return _scalar_dtype(self)

    def extent_parts(self) -> tuple[Hashable, tuple[Expr, ...]]:
        return self.value, ()


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConstFloat(Expr):
    """A floating-point constant, held as a double."""

    value: float

    def __init__(self, value: float, dtype: DataType, span: Span) -> None:
        check_kind(value, (float, int), "value", self)
        set_expr_fields(self, span, ScalarType(dtype), value=float(value))

    @property
    def dtype(self) -> DataType:
        return _scalar_dtype(self)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConstBool(Expr):
    value: bool

    def __init__(self, value: bool, span: Span) -> None:
        check_kind(value, bool, "value", self)
        set_expr_fields(self, span, ScalarType(DataType.BOOL), value=value)

    @property
    def dtype(self) -> DataType:
        return DataType.BOOL


def _scalar_dtype(expr: Expr) -> DataType:
    assert isinstance(expr.type, ScalarType)
    return expr.type.dtype
