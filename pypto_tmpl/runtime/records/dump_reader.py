"""Reading what a run dumped of its tasks' arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.runtime.records.arg_dump import FIRST, SECOND, DumpFiles
from pypto_tmpl.runtime.records.model import task_label
from pypto_tmpl.runtime.records.rank_index import INDEX
from pypto_tmpl.runtime.records.tensors import torch_dtype


class DumpError(PyptoTmplError, ValueError):
    """A dump that is missing, damaged, or lacks what is asked for."""

    slug = "args-dump"


@dataclass(frozen=True, slots=True)
class DumpedArg:
    """One argument of one task, before or after it ran; ``value`` is that of a scalar."""

    task: str  # r1t0
    index: int
    name: str
    role: str
    stage: str
    dtype: str
    shape: tuple[int, ...] | None
    offset: int
    size: int
    value: int | float | bool | str | None = None
    data: Path | None = None  # the file with the cells; none where only metadata was dumped
    rank: int | None = None  # of a run on several ranks, and which of its dispatches
    dispatch: int = 0

    @property
    def place(self) -> str:
        """The task, with rank and dispatch where several ranks ran: ``rank 0 d0 r1t0``."""
        return self.task if self.rank is None else f"rank {self.rank} d{self.dispatch} {self.task}"


@dataclass(frozen=True, slots=True)
class ArgsDump:
    """The arguments of a dump, or of all dispatches of a run on several ranks."""

    args: tuple[DumpedArg, ...]

    def tensor(self, arg: DumpedArg) -> torch.Tensor:
        """The dumped cells of an argument. Raises DumpError where there are none, or not all of them."""
        if arg.shape is None:
            raise DumpError(f"argument {arg.name!r} of task {arg.place} is a scalar: {arg.value}")
        if arg.data is None:
            raise DumpError("the dump has no data: it was made at level 3, metadata only")
        dtype = torch_dtype(arg.dtype)
        with arg.data.open("rb") as file:
            file.seek(arg.offset)
            cells = bytearray(file.read(arg.size))
        if len(cells) != math.prod(arg.shape) * dtype.itemsize:
            raise DumpError(
                f"the data of argument {arg.name!r} of task {arg.place} is not all there", where=str(arg.data)
            )
        return (
            torch.frombuffer(cells, dtype=dtype).reshape(arg.shape)
            if cells
            else torch.empty(arg.shape, dtype=dtype)
        )


def read_dump(path: Path) -> ArgsDump:
    """Read a dump: its index, the folder it is in, ``dfx_outputs/`` or a build directory.

    Of a run on several ranks that is what all of its dispatches dumped. Raises DumpError for anything else,
    and for an index that cannot be read.
    """
    if path.is_file():
        return ArgsDump(_args(path))
    for base in (path, path / "dfx_outputs"):
        if (base / INDEX).is_file():
            return ArgsDump(tuple(_args_of_ranks(base)))
    found = _index(path, path / "dfx_outputs")
    if found is None:
        raise _nothing_dumped(path)
    return ArgsDump(_args(found))


def _args(index: Path, rank: int | None = None, dispatch: int = 0) -> tuple[DumpedArg, ...]:
    try:
        data = json.loads(index.read_text(encoding="utf-8"))
        rows = data["args"] if "args" in data else data["tensors"]
        name = data["bin_file"]
        cells = None if name is None else index.parent / name
        return tuple(replace(_arg(row), data=cells, rank=rank, dispatch=dispatch) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(index, error) from None


def _args_of_ranks(base: Path) -> Iterator[DumpedArg]:
    index = base / INDEX
    try:
        dispatches = json.loads(index.read_text(encoding="utf-8"))["dispatches"]
        places = [(base / one["folder"], int(one["rank"]), int(one["dispatch"])) for one in dispatches]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(index, error) from None
    found = [(_index(folder), rank, number) for folder, rank, number in places]
    if not any(file for file, _, _ in found):
        raise _nothing_dumped(base)
    for file, rank, number in found:
        if file is not None:
            yield from _args(file, rank, number)


def _damaged(index: Path, error: Exception) -> DumpError:
    return DumpError(f"the index cannot be read: {type(error).__name__} {error}", where=str(index))


def _nothing_dumped(path: Path) -> DumpError:
    wanted = ", ".join(_wanted(files) for files in (SECOND, FIRST))
    return DumpError(
        f"no dumped arguments in {str(path)!r}", notes=[f"files: {wanted}", "run with enable_dump_args=2"]
    )


def _index(*bases: Path) -> Path | None:
    """The newest index in some folders."""
    found = [
        folder / files.index
        for base in bases
        for files in (SECOND, FIRST)
        for folder in (base, base / files.folder)
        if (folder / files.index).is_file()
    ]
    return max(found, key=lambda file: file.stat().st_mtime, default=None)


def _wanted(files: DumpFiles) -> str:
    return f"{files.folder}/{files.index}"


def _arg(row: Mapping[str, Any]) -> DumpedArg:
    is_tensor = row.get("kind", "tensor") == "tensor"
    return DumpedArg(
        task=task_label(int(row["task_id"], 16)),
        index=row["arg_index"],
        name=row.get("name", ""),
        role=row["role"],
        stage=row["stage"],
        dtype=row["dtype"],
        shape=tuple(row["shape"]) if is_tensor else None,
        offset=row["bin_offset"] if is_tensor else 0,
        size=row["bin_size"] if is_tensor else 0,
        value=row.get("value"),
    )
