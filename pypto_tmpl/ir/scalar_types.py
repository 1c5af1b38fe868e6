"""Types that hold no extents (spec: IR, section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from pypto_tmpl.ir.base import Type, check_kind, node_tuple, set_fields
from pypto_tmpl.ir.dtypes import DataType


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class _MarkerType(Type):
    """A type without fields."""

    @classmethod
    def get(cls) -> Self:
        return cls()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnknownType(_MarkerType):
    """Type of a call whose result type is not known or that has no result."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MemRefType(_MarkerType):
    """Type of every MemRef."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PtrType(_MarkerType):
    """Type of allocation handles; its kind is spelled ``Ptr`` on the wire."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowBufferType(_MarkerType):
    """Type of every WindowBuffer."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommCtxType(_MarkerType):
    """Type of communication contexts."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrefetchAsyncContextType(_MarkerType):
    pass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AsyncEventType(_MarkerType):
    pass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AsyncSessionType(_MarkerType):
    pass


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ScalarType(Type):
    dtype: DataType

    def __init__(self, dtype: DataType) -> None:
        check_kind(dtype, DataType, "dtype", self)
        set_fields(self, dtype=dtype)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class TupleType(Type):
    types: tuple[Type, ...]

    def __init__(self, types: Iterable[Type]) -> None:
        set_fields(self, types=node_tuple(types, Type, "types", self))
