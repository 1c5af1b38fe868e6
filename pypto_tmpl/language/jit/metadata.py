"""What a kernel is specialised for: shapes and dtypes of tensors, dtypes and values of scalars."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pypto_tmpl.ir import DataType, TensorLayout, Type
from pypto_tmpl.ir.carriers import OF_TORCH
from pypto_tmpl.language.annotations import RUNTIME

Extent: TypeAlias = int | str | None
"""A number, the name of a dynamic dimension, or None for what is not known before the kernel runs."""

Number: TypeAlias = bool | int | float


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Shape and dtype of a tensor."""

    shape: tuple[Extent, ...]
    dtype: DataType
    layout: TensorLayout | None = None
    is_distributed: bool = False

    @property
    def is_complete(self) -> bool:
        """True where every extent is known, by its number or its name."""
        return None not in self.shape


@dataclass(frozen=True, slots=True)
class ScalarInfo:
    """Dtype of a scalar, and its value where that is baked into the kernel."""

    dtype: DataType
    value: Number | None = None


@dataclass(frozen=True, slots=True)
class TupleInfo:
    """What a call gives that has several results."""

    items: tuple[Info, ...]


@dataclass(frozen=True, slots=True)
class OtherInfo:
    """The type of a value that is neither, such as a tile."""

    type: Type


Info: TypeAlias = TensorInfo | ScalarInfo | TupleInfo | OtherInfo | None
"""What is known of a value; None for nothing."""


def is_tensor(value: object) -> bool:
    """True for what has a shape and a dtype, as tensors of torch have, those without data included."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def tensor_info(value: Any, declared: DataType | None, what: str) -> TensorInfo:
    """The metadata of a tensor; two FP4 elements share one of torch's.

    ``declared`` is the dtype that the kernel asks for: where torch lacks it, the tensor is its carrier.
    Raises TypeError where the dtypes differ, and for a dtype that kernels do not take.
    """
    name = str(value.dtype).removeprefix("torch.")
    found = OF_TORCH.get(name)
    shape = tuple(int(extent) for extent in value.shape)
    if declared is not None and declared not in OF_TORCH.values():
        return TensorInfo(shape, declared)
    if found is None:
        raise TypeError(f"{what} has the dtype {name}; kernels take {', '.join(OF_TORCH)}")
    if declared is not None and declared.is_unsigned_int() and declared.name == f"U{found.name}":
        return TensorInfo(shape, declared)  # the same bits
    if declared is not None and declared != found:
        raise TypeError(f"{what} has the dtype {name}, its parameter is declared as {declared.name}")
    if found == DataType.FP4 and shape:
        shape = (*shape[:-1], shape[-1] * 2)
    return TensorInfo(shape, found)


def scalar_info(value: object, dtype: DataType, what: str) -> ScalarInfo:
    """The metadata of a scalar argument; ``pl.RUNTIME`` leaves it a run-time value.

    Raises TypeError for what is no number of the kind that the dtype holds, ValueError for an integer out
    of the dtype's range.
    """
    if value is RUNTIME or value is None:
        return ScalarInfo(dtype)
    if isinstance(value, ctypes._SimpleCData) or (is_tensor(value) and not getattr(value, "shape", None)):
        value = value.value if isinstance(value, ctypes._SimpleCData) else value.item()  # type: ignore[attr-defined]
    fits = (
        isinstance(value, bool)
        if dtype == DataType.BOOL
        else isinstance(value, (int, float) if dtype.is_float() else int) and not isinstance(value, bool)
    )
    if not fits or not isinstance(value, (bool, int, float)):
        raise TypeError(f"{what} is a scalar of dtype {dtype.name}, got {type(value).__name__} {value!r}")
    if dtype.is_float():
        return ScalarInfo(dtype, float(value))
    if dtype.is_int() and not _low(dtype) <= value <= _high(dtype):
        raise ValueError(f"{what} is {value}, which does not fit its dtype {dtype.name}")
    return ScalarInfo(dtype, value)


def _low(dtype: DataType) -> int:
    return 0 if dtype.is_unsigned_int() else -(1 << (dtype.get_bit() - 1))


def _high(dtype: DataType) -> int:
    return (1 << (dtype.get_bit() - (0 if dtype.is_unsigned_int() else 1))) - 1


def substituted(info: Info, known: Mapping[str, Extent]) -> Info:
    """``info`` with dynamic dimensions replaced by what a call says of them."""
    match info:
        case TensorInfo(shape=shape):
            replaced = tuple(known.get(e, e) if isinstance(e, str) else e for e in shape)
            return TensorInfo(replaced, info.dtype, info.layout, info.is_distributed)
        case TupleInfo(items=items):
            return TupleInfo(tuple(substituted(item, known) for item in items))
    return info


def dimensions(infos: Iterable[Info]) -> Iterable[str]:
    """Names of the dynamic dimensions in ``infos``."""
    for info in infos:
        if isinstance(info, TensorInfo):
            yield from (extent for extent in info.shape if isinstance(extent, str))
        elif isinstance(info, TupleInfo):
            yield from dimensions(info.items)
