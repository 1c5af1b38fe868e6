"""Tensors that stay on a device between calls: their description, and how a worker's calls make one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class DeviceTensor:
    """A tensor by its address on a device; no program of the simulated platforms takes one.

    Raises ValueError for an address that is no positive int and for a shape that is not of positive ints,
    TypeError for a dtype that is not torch's.
    """

    data_ptr: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    buffer: Any = None

    def __post_init__(self) -> None:
        if not _is_positive(self.data_ptr):
            raise ValueError(f"data_ptr must be a positive int, got {self.data_ptr!r}")
        object.__setattr__(self, "shape", _extents(self.shape))
        _check_dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class StackedDeviceTensor:
    """A tensor of which each card holds the part of one index of the first axis.

    Raises ValueError for parts that are not those of ``full_shape``.
    """

    shards: Sequence[DeviceTensor]
    full_shape: tuple[int, ...]
    worker_ids: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "full_shape", _extents(self.full_shape))
        if not len(self.shards) == len(self.worker_ids) == self.full_shape[0]:
            counts = f"{len(self.shards)} shards and {len(self.worker_ids)} worker_ids"
            raise ValueError(f"{counts} for {self.full_shape[0]} parts")
        for place, shard in enumerate(self.shards):
            if shard.shape != self.full_shape[1:] or shard.dtype is not self.shards[0].dtype:
                found = f"{shard.dtype} of shape {shard.shape}"
                raise ValueError(f"shard {place} is {found}, not a part of {self.full_shape}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole."""
        return self.full_shape

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of all parts."""
        return self.shards[0].dtype


def default_init_prep(init: torch.Tensor) -> torch.Tensor:
    """The tensor on the host, contiguous, without gradients."""
    return init.detach().cpu().contiguous()


def alloc_device_tensor(
    *,
    malloc: Callable[[int], int],
    copy_to: Callable[[int, int, int], None],
    free: Callable[[int], None],
    buffer_for_ptr: Callable[[int], Any | None] | None = None,
    shape: Sequence[int],
    dtype: torch.dtype,
    init: torch.Tensor | None = None,
    init_prep: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> DeviceTensor:
    """A tensor in memory that ``malloc`` gives (bytes), with the elements of ``init`` where that is given.

    ``copy_to`` takes the device's address, the host's and a number of bytes. A failure gives the memory back.
    Raises ValueError for an ``init`` of another shape or dtype.
    """
    extents = _extents(shape)
    _check_dtype(dtype)
    prepared = None if init is None else (init_prep or default_init_prep)(init)
    if prepared is not None and (tuple(prepared.shape) != extents or prepared.dtype is not dtype):
        found = f"{prepared.dtype} of shape {tuple(prepared.shape)}"
        raise ValueError(f"init is {found}, the tensor {dtype} of shape {extents}")
    pointer = malloc(math.prod(extents) * dtype.itemsize)
    try:
        buffer = None if buffer_for_ptr is None else buffer_for_ptr(pointer)
        made = DeviceTensor(pointer, extents, dtype, buffer)
        if prepared is not None:
            copy_to(pointer, prepared.data_ptr(), made.nbytes)
    except BaseException:
        free(pointer)
        raise
    return made


def _extents(shape: Sequence[int]) -> tuple[int, ...]:
    found = tuple(shape)
    if not found or not all(map(_is_positive, found)):
        raise ValueError(f"a shape has one or more extents, positive ints, got {found}")
    return found


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _check_dtype(dtype: object) -> None:
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be a torch.dtype, got {type(dtype).__name__}")
