"""Tensors as buffers of MPI: cells of windows with their strides, and values without gaps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from mpi4py import MPI

# What MPI adds by itself; a sum in another dtype is worked out here, under a lock.
ADDED: dict[torch.dtype, MPI.Datatype] = {
    torch.float32: MPI.FLOAT,
    torch.float64: MPI.DOUBLE,
    torch.int8: MPI.INT8_T,
    torch.uint8: MPI.UINT8_T,
    torch.int16: MPI.INT16_T,
    torch.int32: MPI.INT32_T,
    torch.int64: MPI.INT64_T,
}


def bytes_of(tensor: torch.Tensor) -> Any:
    """The memory of a tensor without gaps, as an array of bytes."""
    return tensor.detach().reshape(-1).view(torch.uint8).numpy()


def storage_bytes(storage: torch.UntypedStorage) -> Any:
    """The memory of a storage as an array of bytes."""
    return torch.empty(0, dtype=torch.uint8).set_(storage).numpy()


@contextmanager
def shape_of(cells: torch.Tensor, element: MPI.Datatype) -> Iterator[tuple[int, int, MPI.Datatype]]:
    """Where own cells lie in a window: first byte, count, datatype. ``element`` is that of one cell."""
    size = cells.element_size()
    start = int(cells.storage_offset()) * size
    if cells.is_contiguous():
        yield start, cells.numel(), element
        return
    made = [element]
    for extent, stride in zip(reversed(cells.shape), reversed(cells.stride()), strict=True):
        made.append(made[-1].Create_hvector(extent, 1, stride * size))
    made[-1].Commit()
    try:
        yield start, 1, made[-1]
    finally:
        for one in made[1:]:
            one.Free()


@contextmanager
def bytes_element(size: int) -> Iterator[MPI.Datatype]:
    """A cell of some bytes, whatever they mean."""
    made = MPI.BYTE.Create_contiguous(size).Commit()
    try:
        yield made
    finally:
        made.Free()
