"""Ops on arrays of scalars, task ids and handles: they take and yield plain Python values."""

from typing import Any

import torch
from ops.references.arithmetic import held
from ops.references.registry import reference

INVALID_TASK = -1


@reference("array.create")
def array_create(extent: int, dtype: str, **ignored: object) -> list[Any]:
    """As upstream's orchestration code leaves it: zeros, or invalid task ids."""
    return [{"TASK_ID": INVALID_TASK, "BOOL": False}.get(dtype, 0) for _ in range(extent)]


@reference("array.get_element")
def array_get_element(array: list[Any], index: int, **ignored: object) -> Any:
    """array[index]"""
    return array[index]


@reference("array.update_element")
def array_update_element(array: list[Any], index: int, value: int, result: torch.dtype) -> list[Any]:
    """The array with another element at the index, saturated in the range of the dtype."""
    number = int(held(value, result))
    return [number if at == index else old for at, old in enumerate(array)]


@reference("prefetch.wait")
def prefetch_wait(**ignored: object) -> bool:
    """The prefetch is done."""
    return True


@reference("system.task_invalid")
def task_invalid(**ignored: object) -> int:
    """The id that is none."""
    return INVALID_TASK


@reference("system.task_dummy")
def task_dummy(**ignored: object) -> int:
    """An id that is valid."""
    return 0


@reference("system.task_is_valid")
def task_is_valid(task_id: object, **ignored: object) -> bool:
    """True of every id but one."""
    return task_id != INVALID_TASK


@reference("system.available_cluster_count", count=24)
@reference("system.available_aiv_count", count=48)
def core_count(count: int, **ignored: object) -> int:
    """The cores of the smaller device that upstream compiles for."""
    return count
