"""Reading what a run dumped of its tasks' arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.runtime.records.arg_dump import FIRST, SECOND, DumpFiles
from pypto_tmpl.runtime.records.model import task_label
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
    value: int | float | bool | None = None


@dataclass(frozen=True, slots=True)
class ArgsDump:
    """The index of a dump, and the file with its data (None: only metadata was dumped)."""

    args: tuple[DumpedArg, ...]
    data: Path | None

    def tensor(self, arg: DumpedArg) -> torch.Tensor:
        """The dumped cells of an argument. Raises DumpError where there are none, or not all of them."""
        if arg.shape is None:
            raise DumpError(f"argument {arg.name!r} of task {arg.task} is a scalar: {arg.value}")
        if self.data is None:
            raise DumpError("the dump has no data: it was made at level 3, metadata only")
        dtype = torch_dtype(arg.dtype)
        with self.data.open("rb") as file:
            file.seek(arg.offset)
            cells = bytearray(file.read(arg.size))
        if len(cells) != math.prod(arg.shape) * dtype.itemsize:
            raise DumpError(
                f"the data of argument {arg.name!r} of task {arg.task} is not all there", where=str(self.data)
            )
        return (
            torch.frombuffer(cells, dtype=dtype).reshape(arg.shape)
            if cells
            else torch.empty(arg.shape, dtype=dtype)
        )


def read_dump(path: Path) -> ArgsDump:
    """Read a dump: its index, the folder it is in, ``dfx_outputs/`` or a build directory.

    Raises DumpError for anything else, and for an index that cannot be read.
    """
    index = _index(path)
    try:
        data = json.loads(index.read_text(encoding="utf-8"))
        rows = data["args"] if "args" in data else data["tensors"]
        found = tuple(_arg(row) for row in rows)
        name = data["bin_file"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DumpError(
            f"the index cannot be read: {type(error).__name__} {error}", where=str(index)
        ) from None
    return ArgsDump(found, None if name is None else index.parent / name)


def _index(path: Path) -> Path:
    if path.is_file():
        return path
    found = [
        folder / files.index
        for base in (path, path / "dfx_outputs")
        for files in (SECOND, FIRST)
        for folder in (base, base / files.folder)
        if (folder / files.index).is_file()
    ]
    if not found:
        wanted = ", ".join(_wanted(files) for files in (SECOND, FIRST))
        raise DumpError(
            f"no dumped arguments in {str(path)!r}", notes=[f"files: {wanted}", "run with enable_dump_args=2"]
        )
    return max(found, key=lambda file: file.stat().st_mtime)


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
