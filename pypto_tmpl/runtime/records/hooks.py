"""Attaching a listener to a loaded script: to its kernels, and to the helpers that start blocks and lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import torch

from pypto_tmpl.runtime.records.plan import CoreType, Kernel, TaskPlan
from pypto_tmpl.runtime.records.recorder import Given
from pypto_tmpl.runtime.records.rewrite import RECORDER
from pypto_tmpl.runtime.records.ticker import Listener

_Function = Callable[..., Any]


def attach(namespace: dict[str, Any], plan: TaskPlan, recorder: Listener) -> None:
    """Have a recorder told of all that a script launches."""
    namespace[RECORDER] = recorder
    for name, kernel in plan.kernels.items():
        if callable(namespace.get(name)):
            namespace[name] = _launching(namespace[name], kernel, recorder)
    hooks = {"_run_spmd": _blocks, "_run_blocks": _blocks, "_run_mixed_kernels": _group, "_run_lanes": _lanes}
    for name, hook in hooks.items():
        if name in namespace:
            namespace[name] = hook(namespace[name], plan, recorder)


def block_of(namespace: Mapping[str, Any]) -> Callable[[], int]:
    """What tells the block that the calling thread runs."""
    context = namespace.get("_lane_context")
    return lambda: 0 if context is None else int(context.block_idx)


def task_id_setter(namespace: dict[str, Any]) -> Callable[[int], None]:
    """What makes the id of the last task that which the script gives a launch."""

    def set_task_id(task_id: int) -> None:
        if "_TASK_DONE" in namespace:
            namespace["_TASK_DONE"] = task_id

    return set_task_id


def _launching(function: _Function, kernel: Kernel, recorder: Listener) -> _Function:
    @wraps(function)
    def launch(*args: Any) -> Any:
        with recorder.launch(kernel.name, _given(kernel, args)):
            if kernel.core is None:
                return function(*args)
            with recorder.part(kernel.name, kernel.core):
                return function(*args)

    return launch


def _blocks(function: _Function, plan: TaskPlan, recorder: Listener) -> _Function:
    @wraps(function)
    def run_spmd(core_num: int, launched: _Function, *args: Any) -> Any:
        name, given = launch_of(plan, launched, args)
        with recorder.launch(name, given, int(core_num)):
            return function(core_num, launched, *args)

    return run_spmd


def _group(function: _Function, plan: TaskPlan, recorder: Listener) -> _Function:
    @wraps(function)
    def run_group(
        name: str, meta: Mapping[str, Any], *args: Any, aiv_args: Any = None, value: str | None = None
    ) -> Any:
        with recorder.launch(name, _given_to_group(plan, meta, args, aiv_args)):
            return function(name, meta, *args, aiv_args=aiv_args, value=value)

    return run_group


def _lanes(function: _Function, plan: TaskPlan, recorder: Listener) -> _Function:
    @wraps(function)
    def run_lanes(group: Any, lanes: Sequence[Any]) -> Any:
        task = recorder.current()
        if task is None:
            return function(group, lanes)
        recorder.hand_over()
        for lane in lanes:
            lane.function = _on_lane(lane, plan, recorder)
        return function(group, lanes)

    def _on_lane(lane: Any, plan: TaskPlan, recorder: Listener) -> _Function:
        inner, task = lane.function, recorder.current()
        kernel = plan.kernels.get(inner.__name__)
        name = inner.__name__ if kernel is None else kernel.name
        is_cube = lane.lane_name == "aic"

        @wraps(inner)
        def run(*args: Any) -> Any:
            index = None if is_cube else int(lane.lane_name == "aiv1")
            with recorder.part(name, "aic" if is_cube else "aiv", index, task):
                return inner(*args)

        return run

    return run_lanes


def launch_of(plan: TaskPlan, function: _Function, args: Sequence[Any]) -> tuple[str, list[Given]]:
    """What a call of a function of the script launches, a kernel or a group, and its arguments."""
    kernel = plan.kernels.get(function.__name__)
    if kernel is not None:
        return kernel.name, _given(kernel, args)
    if function.__name__ == "_run_group_call":
        meta = function.__globals__["_GROUP_META"][args[0]]
        return args[0], _given_to_group(plan, meta, args[1:], None)
    return function.__name__, [Given(f"arg{i}", "In", arg) for i, arg in enumerate(args)]


def _given(kernel: Kernel, args: Sequence[Any]) -> list[Given]:
    pairs = zip(kernel.params, kernel.directions, args, strict=False)
    return [Given(name, direction, value) for name, direction, value in pairs]


def _given_to_group(
    plan: TaskPlan, meta: Mapping[str, Any], args: Sequence[Any], aiv_args: Sequence[Any] | None
) -> list[Given]:
    """The arguments of both members of a group, each tensor once; what one of them writes is written."""
    found: list[Given] = []
    members: tuple[tuple[CoreType, Sequence[Any]], ...]
    members = (("aic", args), ("aiv", args if aiv_args is None else aiv_args))
    for core, values in members:
        kernel = plan.kernels.get(meta[core])
        if kernel is None:
            continue
        for one in _given(kernel, values):
            one = replace(one, cores=frozenset({core} if one.name in kernel.used else ()))
            same = next((i for i, other in enumerate(found) if _is_same(other, one)), None)
            if same is None:
                found.append(one)
            else:
                found[same] = _joined(found[same], one)
    return found


def _joined(one: Given, other: Given) -> Given:
    direction = one.direction if one.direction == other.direction else "InOut"
    return replace(one, direction=direction, cores=one.cores | other.cores)


def _is_same(one: Given, other: Given) -> bool:
    if isinstance(one.value, torch.Tensor):
        return one.value is other.value
    return one.name == other.name and one.value == other.value
