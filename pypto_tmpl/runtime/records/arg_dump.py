"""Dumping the arguments of tasks: an index and one file of data, in the forms of both generations."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from pypto_tmpl.files import make_folder, move_into_place
from pypto_tmpl.generated import write_generated
from pypto_tmpl.runtime.records.model import Arg, Task
from pypto_tmpl.runtime.records.ownership import check_dump, is_dump_index
from pypto_tmpl.runtime.records.pmu import hex_id
from pypto_tmpl.runtime.records.tensors import View, dtype_name, row_major_bytes, strides_of

MARKED, ALL, METADATA = 1, 2, 3  # levels
Stage = Literal["before_dispatch", "after_completion"]
_PIECE = 1 << 24  # bytes of data that are read at once
_STAGES: tuple[Stage, ...] = ("before_dispatch", "after_completion")
_ROLES = {"INPUT": "input", "OUTPUT": "output", "INOUT": "inout", "NO_DEP": "input", "SCALAR": "input"}


@dataclass(frozen=True, slots=True)
class DumpEntry:
    """An argument of a task before or after it, and where its data lies."""

    task: Task
    arg: Arg
    stage: Stage
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class DumpFiles:
    """Where a generation keeps its dump, and how its index calls things."""

    folder: str
    index: str
    data: str
    noun: str


FIRST = DumpFiles("tensor_dump", "tensor_dump.json", "tensor_dump.bin", "tensors")
SECOND = DumpFiles("args_dump", "args_dump.json", "args.bin", "args")


class ArgDump:
    """Writes data as tasks run, into a file beside its place, and the index at the end.

    Level 1 dumps what the program marks (``dumps=[...]``, ``pl.dump_tag``), 2 all, 3 all without data.
    """

    def __init__(self, folder: Path, files: DumpFiles, level: int) -> None:
        self._folder, self._files, self._level = folder / files.folder, files, level
        self.entries: list[DumpEntry] = []  # of the index
        self._places: dict[int, list[int]] = {}  # of the entries of tasks that run
        self._position = 0
        check_dump(self._folder / files.index, self._folder / files.data)
        self._partial = self._folder / f".{files.data}.{secrets.token_hex(8)}"
        make_folder(self._folder)
        self._data = None if level == METADATA else self._partial.open("wb")

    def before(
        self, task: Task, args: Sequence[Arg], values: Sequence[Any], marked: Sequence[torch.Tensor]
    ) -> None:
        """Dump what the task reads."""
        for arg, value in self._wanted(args, values, marked):
            if arg.type != "OUTPUT":
                self._places.setdefault(task.task_id, []).append(len(self.entries))
                self._add(task, arg, "before_dispatch", value)

    def after(
        self, task: Task, args: Sequence[Arg], values: Sequence[Any], marked: Sequence[torch.Tensor]
    ) -> None:
        """Dump what the task wrote; what it turned out to be is known now."""
        final = {arg.index: arg for arg in args}
        for position in self._places.pop(task.task_id, ()):
            entry = self.entries[position]
            self.entries[position] = replace(entry, arg=final.get(entry.arg.index, entry.arg))
        for arg, value in self._wanted(args, values, marked):
            if arg.type in ("OUTPUT", "INOUT"):
                self._add(task, arg, "after_completion", value)

    def _wanted(
        self, args: Sequence[Arg], values: Sequence[Any], marked: Sequence[torch.Tensor]
    ) -> Iterator[tuple[Arg, Any]]:
        for arg, value in zip(args, values, strict=True):
            is_marked = any(value is one for one in marked)
            if self._level != MARKED or is_marked:
                yield arg, value

    def _add(self, task: Task, arg: Arg, stage: Stage, value: Any) -> None:
        data = b""
        if self._data is not None and isinstance(value, torch.Tensor):
            data = row_major_bytes(value)
            self.add_data(data)
        self.entries.append(DumpEntry(task, arg, stage, self._position, len(data)))
        self._position += len(data)

    def add_data(self, data: bytes) -> None:
        """Add to the data, behind all that is there."""
        if self._data is not None:
            self._data.write(data)

    def taken_data(self) -> Iterator[bytes]:
        """All data in pieces, for another dump; this one has no files then."""
        if self._data is not None:
            self._data.close()
            with self._partial.open("rb") as written:
                while piece := written.read(_PIECE):
                    yield piece
            self._partial.unlink()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was dumped."""
        return not self.entries

    def close(self) -> Path:
        """Put the data in its place and write the index; returns the index's path."""
        if self._data is not None:
            self._data.close()
            move_into_place(self._partial, self._folder / self._files.data)
        index = self._first() if self._files is FIRST else self._second()
        path = self._folder / self._files.index
        write_generated(path, json.dumps(index, indent=2) + "\n", is_dump_index)
        return path

    def _first(self) -> dict[str, Any]:
        tensors = [_first_entry(entry, entry.arg.view) for entry in self.entries if entry.arg.view]
        return {
            "run_dir": self._files.folder,
            "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
            "simulated": True,
            "total_tensors": len(tensors),
            **_counts(tensors, "tensors"),
            "dropped_records": 0,
            "dropped_overwrite": 0,
            "bin_file": self._files.data if self._data is not None else None,
            "tensors": tensors,
        }

    def _second(self) -> dict[str, Any]:
        args = [_second_entry(entry) for entry in self.entries]
        return {
            "run_dir": self._files.folder,
            "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
            "simulated": True,
            "dump_args_level": self._level,
            "total_args": len(args),
            **_counts(args, "args"),
            "dropped_records": 0,
            "dropped_overwrite": 0,
            "bin_file": self._files.data if self._data is not None else None,
            "args": args,
        }


def _counts(entries: Sequence[dict[str, Any]], noun: str) -> dict[str, int]:
    counts: dict[str, int] = {stage: sum(entry["stage"] == stage for entry in entries) for stage in _STAGES}
    for role in ("input", "output", "inout"):
        counts[f"{role}_{noun}"] = sum(entry["role"] == role for entry in entries)
    counts[f"truncated_{noun}"] = 0
    return counts


def _first_entry(entry: DumpEntry, view: View) -> dict[str, Any]:
    whole = (view.buffer_numel,) if view.numel != view.buffer_numel else view.shape
    offsets = [view.offset] if view.numel != view.buffer_numel else [0] * len(view.shape)
    return {
        **_common(entry),
        "func_id": next(iter(_function_ids(entry)), -1),
        "arg_index": entry.arg.index,
        "dtype": dtype_name(view.dtype),
        "shape": list(view.shape),
        "raw_shape": list(whole),
        "offsets": offsets,
        **_data(entry, view),
    }


def _second_entry(entry: DumpEntry) -> dict[str, Any]:
    view = entry.arg.view
    head = {
        **_common(entry),
        "func_id": _function_ids(entry),
        "arg_index": entry.arg.index,
        "kind": "scalar" if view is None else "tensor",
    }
    if view is None:
        return {**head, "dtype": _scalar_dtype(entry.arg.value), "value": entry.arg.value}
    return {
        **head,
        "dtype": dtype_name(view.dtype),
        "shape": list(view.shape),
        "strides": list(view.strides),
        "start_offset": view.offset,
        **_data(entry, view),
    }


def _common(entry: DumpEntry) -> dict[str, Any]:
    return {
        "task_id": hex_id(entry.task.task_id),
        "subtask_id": next(iter(entry.task.subtasks_of(entry.arg)), "AIV0"),
        "name": entry.arg.name,
        "role": _ROLES[entry.arg.type],
        "stage": entry.stage,
    }


def _function_ids(entry: DumpEntry) -> list[int]:
    """The kernels that use the argument, each once."""
    ids = entry.task.kernel_ids
    return list(dict.fromkeys(ids[part] for part in entry.task.subtasks_of(entry.arg)))


def _data(entry: DumpEntry, view: View) -> dict[str, Any]:
    return {
        "is_contiguous": view.strides == strides_of(view.shape),
        "truncated": False,
        "overwritten": False,
        "bin_offset": entry.offset,
        "bin_size": entry.size,
    }


def _scalar_dtype(value: object) -> str:
    if isinstance(value, str):
        return "COMM_CTX"
    return "BOOL" if isinstance(value, bool) else "INT64" if isinstance(value, int) else "FLOAT32"
