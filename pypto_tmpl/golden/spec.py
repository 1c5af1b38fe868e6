"""What a kernel is called with: tensors and scalars, in the order of its parameters."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

_SHAPED_INITS = (torch.randn, torch.rand, torch.zeros, torch.ones)
_RANDOM_INT_END = 8  # random integers are drawn from [0, 8)
_PART = 1 << 20  # elements drawn at once where torch cannot draw the dtype itself

InitValue: TypeAlias = "int | float | torch.Tensor | Callable[..., Any] | None"


@dataclass
class TensorSpec:
    """A tensor parameter.

    ``is_output`` with ``init_value`` None is a pure output, which starts as zeros; with an ``init_value``
    it is read and written. ``init_value`` is a number to fill with, a tensor (taken as it is when it has the
    dtype), ``torch.randn``, ``rand``, ``zeros`` or ``ones``, any other function without arguments, or None:
    random for an input. ``resident`` says which card of several holds the tensor; on one card it has no
    effect. Raises ValueError for a ``resident`` that names no card.
    """

    name: str
    shape: Sequence[int]
    dtype: torch.dtype
    init_value: InitValue = None
    is_output: bool = False
    resident: int | str | None = None

    def __post_init__(self) -> None:
        place = self.resident
        if place is None or place is False or place == "stacked":
            return
        where = f"TensorSpec {self.name!r}: "
        if place is True:
            raise ValueError(f"{where}resident=True is ambiguous; give the card's number or 'stacked'")
        if not isinstance(place, int):
            raise ValueError(f"{where}resident must be a card's number or 'stacked', got {place!r}")
        if place < 0:
            raise ValueError(f"{where}resident must be 0 or more, got {place}")

    @property
    def is_resident(self) -> bool:
        """True for a tensor that stays on a card between calls; card 0 counts."""
        return self.resident is not None and self.resident is not False

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape as a tuple; a bare number is a shape of one dimension."""
        return (self.shape,) if isinstance(self.shape, int) else tuple(self.shape)

    def create_tensor(self) -> torch.Tensor:
        """The initial tensor, random numbers coming from torch's default generator.

        Raises TypeError for an ``init_value`` of another kind, and what torch or the function raises.
        """
        value = self.init_value
        if value is None:
            return self.create_zeros() if self.is_output else _random(self.extents, self.dtype)
        if isinstance(value, int | float):
            return torch.full(self.extents, value, dtype=self.dtype)
        if isinstance(value, torch.Tensor):
            return value.to(self.dtype)
        if any(value is known for known in _SHAPED_INITS):
            shaped: torch.Tensor = value(self.extents, dtype=self.dtype)
            return shaped
        if callable(value):
            return torch.as_tensor(value(), dtype=self.dtype)
        raise TypeError(f"Unsupported init_value type {type(value)} for tensor {self.name!r}")

    def create_zeros(self) -> torch.Tensor:
        """What a pure output starts as."""
        return torch.zeros(self.extents, dtype=self.dtype)


def _random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Standard normal floats, integers uniform over [0, 8), fair bools."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, dtype=dtype)
    if dtype.is_floating_point or dtype.is_complex:
        if dtype.itemsize > 1:
            return torch.randn(shape, dtype=dtype)
        return _in_parts(shape, dtype, torch.randn)
    if dtype in (torch.uint16, torch.uint32, torch.uint64):
        return _in_parts(shape, dtype, lambda size: torch.randint(0, _RANDOM_INT_END, size))
    return torch.randint(0, _RANDOM_INT_END, shape, dtype=dtype)


def _in_parts(
    shape: tuple[int, ...], dtype: torch.dtype, draw: Callable[[tuple[int]], torch.Tensor]
) -> torch.Tensor:
    """Draw in another dtype, a part at a time: the whole in that dtype may be several times as large."""
    drawn = torch.empty(shape, dtype=dtype)
    for part in torch.split(drawn.view(-1), _PART):
        part.copy_(draw((part.numel(),)))
    return drawn


@dataclass(frozen=True, slots=True)
class _ScalarKind:
    ctype: type[Any]
    limits: tuple[int, int] | None = None
    is_bool: bool = False
    is_bits: bool = False  # a 16-bit float is passed as its bits


_SCALAR_KINDS: dict[torch.dtype, _ScalarKind] = {
    torch.int8: _ScalarKind(ctypes.c_int8, (-(2**7), 2**7 - 1)),
    torch.int32: _ScalarKind(ctypes.c_int32, (-(2**31), 2**31 - 1)),
    torch.int64: _ScalarKind(ctypes.c_int64, (-(2**63), 2**63 - 1)),
    torch.uint8: _ScalarKind(ctypes.c_uint8, (0, 2**8 - 1)),
    torch.bool: _ScalarKind(ctypes.c_bool, is_bool=True),
    torch.float32: _ScalarKind(ctypes.c_float),
    torch.float16: _ScalarKind(ctypes.c_uint16, is_bits=True),
    torch.bfloat16: _ScalarKind(ctypes.c_uint16, is_bits=True),
}


@dataclass
class ScalarSpec:
    """A scalar parameter; ``value`` becomes a 0-dim tensor of ``dtype``, floats rounded to it.

    Raises ValueError for a dtype that scalars cannot have, and for a value of another type or out of range.
    """

    name: str
    dtype: torch.dtype
    value: Any

    def __post_init__(self) -> None:
        kind = _SCALAR_KINDS.get(self.dtype)
        if kind is None:
            names = [str(dtype) for dtype in _SCALAR_KINDS]
            raise ValueError(
                f"ScalarSpec {self.name!r}: unsupported dtype {self.dtype}; expected one of {names}"
            )
        if isinstance(self.value, torch.Tensor):
            self._check_tensor(self.value)
        else:
            self._check_number(kind, self.value)
            self.value = torch.tensor(self.value, dtype=self.dtype)

    def _check_tensor(self, value: torch.Tensor) -> None:
        if value.dim() != 0 or value.dtype is not self.dtype:
            found = f"{value.dtype} of shape {tuple(value.shape)}"
            raise ValueError(f"ScalarSpec {self.name!r} requires a 0-dim tensor of {self.dtype}, got {found}")

    def _check_number(self, kind: _ScalarKind, value: object) -> None:
        wanted = "bool" if kind.is_bool else "int" if kind.limits is not None else "int or float"
        fits = {
            "bool": isinstance(value, bool),
            "int": isinstance(value, int) and not isinstance(value, bool),
            "int or float": isinstance(value, int | float) and not isinstance(value, bool),
        }
        if not fits[wanted]:
            found = type(value).__name__
            raise ValueError(
                f"ScalarSpec {self.name!r} dtype={self.dtype} requires {wanted} value, got {found}"
            )
        if kind.limits is not None and isinstance(value, int):
            low, high = kind.limits
            if not low <= value <= high:
                raise ValueError(
                    f"ScalarSpec {self.name!r} value {value} out of range for {self.dtype} [{low}, {high}]"
                )

    def to_python(self) -> int | float | bool:
        """The value as a Python number."""
        number: int | float | bool = self.value.item()
        return number

    def to_ctypes(self) -> Any:
        """The value as it is passed to a device; 16-bit floats as their bits."""
        kind = _SCALAR_KINDS[self.dtype]
        if not kind.is_bits:
            return kind.ctype(self.to_python())
        return kind.ctype(int(self.value.view(torch.int16)) & 0xFFFF)
