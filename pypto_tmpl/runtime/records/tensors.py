"""Which memory a tensor is, and whether two of them share cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

_WeakStorage: Any = StorageWeakRef
_NAMES = {
    torch.float16: "FLOAT16",
    torch.bfloat16: "BFLOAT16",
    torch.float32: "FLOAT32",
    torch.float8_e4m3fn: "FP8E4M3FN",
    torch.float8_e5m2: "FP8E5M2",
    torch.float8_e8m0fnu: "FP8E8M0",
    torch.bool: "BOOL",
}


def dtype_name(dtype: torch.dtype) -> str:
    """The name that the device's run time has for a dtype: FLOAT32, INT8, ..."""
    return _NAMES.get(dtype) or str(dtype).removeprefix("torch.").upper()


def torch_dtype(name: str) -> torch.dtype:
    """The dtype of such a name. Raises ValueError for another one."""
    by_name = {known: dtype for dtype, known in _NAMES.items()}
    found = by_name.get(name) or getattr(torch, name.lower(), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{name!r} is no dtype of the run time")
    return found


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of memory; ``number`` is its own among all of a run, however often an address is used."""

    number: int
    address: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class View:
    """The cells of a buffer that a tensor shows; offset and strides count elements."""

    buffer: Buffer
    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def numel(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def buffer_numel(self) -> int:
        return self.buffer.nbytes // self.dtype.itemsize

    def overlaps(self, other: View) -> bool:
        """Whether the two share a cell; windows of unlike strides are compared by their first and last."""
        if self.buffer is not other.buffer or not self.numel or not other.numel:
            return False
        mine, others = self._windows(other)
        if mine and others:
            return all(a < d and c < b for (a, b), (c, d) in zip(mine, others, strict=True))
        (a, b), (c, d) = self._bytes(), other._bytes()
        return a < d and c < b

    def covers(self, other: View) -> bool:
        """Whether all cells of the other are cells of this one too, as far as that can be told."""
        if self.buffer is not other.buffer:
            return False
        mine, others = self._windows(other)
        if mine and others:
            return all(a <= c and d <= b for (a, b), (c, d) in zip(mine, others, strict=True))
        (a, b), (c, d) = self._bytes(), other._bytes()
        return a <= c and d <= b and b - a == self.numel * self.dtype.itemsize

    def _bytes(self) -> tuple[int, int]:
        steps = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        size = self.dtype.itemsize
        return self.offset * size, (self.offset + steps + 1) * size

    def _windows(self, other: View) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        if self.dtype != other.dtype or self.strides != other.strides:
            return [], []
        return self._window(), other._window()

    def _window(self) -> list[tuple[int, int]]:
        """Start and stop along each axis of the whole buffer; none if the view is no window of that kind."""
        bounds, rest, last = [], self.offset, self.buffer_numel
        for extent, stride in zip(self.shape, self.strides, strict=True):
            if stride <= 0 or stride > last or last % stride:
                return []
            start, rest = divmod(rest, stride)
            if start + extent > last // stride:
                return []
            bounds.append((start, start + extent))
            last = stride
        return bounds if rest == 0 and last == 1 else []


class Buffers:
    """Numbers the memory that tensors of one run are in.

    Freed memory is used again: a weak reference to each storage keeps its identity from being reused.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Buffer]] = {}

    def view(self, tensor: torch.Tensor) -> View:
        """The view that a tensor is."""
        storage = tensor.untyped_storage()
        found = self._known.get(storage._cdata)
        if found is None:
            buffer = Buffer(len(self._known) + 1, storage.data_ptr(), storage.nbytes())
            found = self._known[storage._cdata] = (_WeakStorage(storage), buffer)
        return View(
            found[1], tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset())
        )


def row_major_bytes(tensor: torch.Tensor) -> bytes:
    """The cells of a tensor in row-major order, little-endian."""
    cells = tensor.detach().cpu().contiguous().reshape(-1)
    return cells.view(torch.uint8).numpy().tobytes() if cells.numel() else b""


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a whole row-major tensor."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
