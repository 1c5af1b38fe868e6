"""``deps.json``: the tasks of a run, the tensors between them, and why each waits for which."""

from __future__ import annotations

from typing import Any

from pypto_tmpl.runtime.records.model import Arg, Edge, Records, Task
from pypto_tmpl.runtime.records.tensors import View, dtype_name


def deps(records: Records) -> dict[str, Any]:
    """The file's content; ids of 64 bits are text, as JSON numbers are not that wide."""
    buffers: dict[int, View] = {}
    for task in records.tasks:
        for arg in task.args:
            if arg.view is not None:
                buffers.setdefault(arg.view.buffer.number, arg.view)
    return {
        "version": 2,
        "simulated": True,
        "tasks": [_task(task) for task in records.tasks],
        "tensors": [_tensor(number, view) for number, view in sorted(buffers.items())],
        "edges": [_edge(edge) for task in records.tasks for edge in task.edges],
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "task_id": str(task.task_id),
        "name": task.name,
        "scope": "manual" if task.is_manual else "auto",
        "kernel_ids": [task.kernel_ids.get(subtask, -1) for subtask in ("AIC", "AIV0", "AIV1")],
        "block_num": task.block_num,
        "args": [_arg(arg, arg.view) for arg in task.args if arg.view is not None],
    }


def _arg(arg: Arg, view: View) -> dict[str, Any]:
    return {
        "idx": arg.index,
        "name": arg.name,
        "type": arg.type,
        "tensor_id": str(view.buffer.number),
        "dtype": dtype_name(view.dtype),
        "shape": list(view.shape),
        "start_offset": str(view.offset),
        "strides": list(view.strides),
    }


def _tensor(number: int, view: View) -> dict[str, Any]:
    return {
        "tensor_id": str(number),
        "buffer_addr": str(view.buffer.address),
        "version": 0,
        "dtype": dtype_name(view.dtype),
        "buffer_numel": str(view.buffer_numel),
    }


def _edge(edge: Edge) -> dict[str, Any]:
    data: dict[str, Any] = {
        "pred": str(edge.pred),
        "succ": str(edge.succ),
        "arg": edge.arg,
        "source": "explicit" if edge.is_explicit else "tensormap",
        "flags": ["wait"],
    }
    if edge.consumer is not None and edge.producer is not None:
        data["overlap"] = "covered" if edge.is_covered else "other"
        data["tensor_id"] = str(edge.consumer.buffer.number)
        data["consumer_dtype"] = dtype_name(edge.consumer.dtype)
        for side, view in (("consumer", edge.consumer), ("producer", edge.producer)):
            data[f"{side}_shape"] = list(view.shape)
            data[f"{side}_start_offset"] = str(view.offset)
            data[f"{side}_strides"] = list(view.strides)
    return data
