"""Arguments and values of functions in other processes: copies, or parts of what is there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from mpi4py import MPI

from pypto_tmpl.execution.mpi.cells import storage_bytes


@dataclass(frozen=True, slots=True)
class _Place:
    """A tensor: in which of several storages it lies, and how."""

    storage: int
    dtype: torch.dtype
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments with places for tensors, and the bytes of the storages that these share."""

    values: tuple[Any, ...]
    sizes: tuple[int, ...]


def described(args: Sequence[Any]) -> tuple[Arguments, list[torch.UntypedStorage]]:
    """What other processes have to know of arguments, and the storages whose bytes they get."""
    storages: dict[int, torch.UntypedStorage] = {}
    places: dict[int, int] = {}

    def place(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        storage = value.untyped_storage()
        number = places.setdefault(storage.data_ptr(), len(places))
        storages[number] = storage
        return _place_of(value, number)

    values = tuple(map(place, args))
    return Arguments(values, tuple(one.nbytes() for one in storages.values())), list(storages.values())


def _place_of(tensor: torch.Tensor, storage: int) -> _Place:
    offset = int(tensor.storage_offset())
    return _Place(storage, tensor.dtype, offset, tuple(tensor.shape), tensor.stride())


def _at(place: _Place, storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=place.dtype).set_(storage, place.offset, place.shape, place.stride)


def share_bytes(comm: MPI.Intracomm, storages: Sequence[torch.UntypedStorage]) -> None:
    """Copy the bytes of storages of the first process into those of the others, which all come here."""
    for one in storages:
        comm.Bcast([storage_bytes(one), MPI.BYTE], 0)


def received(comm: MPI.Intracomm, arguments: Arguments) -> list[Any]:
    """The arguments that the first process has described and shares now."""
    storages = [torch.empty(size, dtype=torch.uint8).untyped_storage() for size in arguments.sizes]
    share_bytes(comm, storages)
    return [
        _at(value, storages[value.storage]) if isinstance(value, _Place) else value
        for value in arguments.values
    ]


def described_value(value: Any, args: Sequence[Any]) -> Any:
    """What a function has returned, with places for tensors that show cells of its arguments."""
    if isinstance(value, tuple):
        return tuple(described_value(one, args) for one in value)
    if not isinstance(value, torch.Tensor):
        return value
    own = value.untyped_storage().data_ptr()
    for number, arg in enumerate(args):
        if isinstance(arg, torch.Tensor) and arg.untyped_storage().data_ptr() == own:
            return _place_of(value, number)
    return value.clone()


def value_described(value: Any, args: Sequence[Any]) -> Any:
    """The value that another process has described, with its arguments as they are here."""
    if isinstance(value, tuple):
        return tuple(value_described(one, args) for one in value)
    return _at(value, args[value.storage].untyped_storage()) if isinstance(value, _Place) else value
