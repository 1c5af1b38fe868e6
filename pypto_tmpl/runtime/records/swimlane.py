"""Timing records of the tasks, in the files of both generations of the run time.

Times are of the host's clock, on which one part of the program runs after another; the simulated run time
has no scheduler of its own, so its phases (levels 3 and 4) are absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl.runtime.records.model import RING, Records
from pypto_tmpl.runtime.records.recorder import AIC_CORES, AIV_CORES

CLOCK_HZ: Mapping[str, int] = {"Ascend910B": 50_000_000, "Ascend950": 1_000_000_000}
_SIMULATED = {"simulated": True, "clock": "host"}


def successors(records: Records) -> dict[int, list[int]]:
    """The tasks that wait for each task, each once."""
    found: dict[int, dict[int, None]] = {task.task_id: {} for task in records.tasks}
    for task in records.tasks:
        for edge in task.edges:
            found.setdefault(edge.pred, {})[task.task_id] = None
    return {task_id: list(others) for task_id, others in found.items()}


def microseconds(nanoseconds: int, began: int) -> float:
    """A time since the start of the run."""
    return round((nanoseconds - began) / 1000, 3)


def l2_perf_records(records: Records) -> dict[str, Any]:
    """``l2_perf_records.json``, the first generation: one entry for each stretch of a task on a core."""
    began, fanout = records.began(), successors(records)
    tasks = []
    for task in sorted(records.tasks, key=lambda task: task.task_id):
        for record in task.records:
            start, end = microseconds(record.start, began), microseconds(record.end, began)
            tasks.append(
                {
                    "task_id": task.task_id,
                    "func_id": record.func_id,
                    "core_id": record.core_id,
                    "core_type": record.core_type,
                    "ring_id": RING,
                    "start_time_us": start,
                    "end_time_us": end,
                    "duration_us": round(end - start, 3),
                    "dispatch_time_us": microseconds(task.dispatched, began),
                    "finish_time_us": microseconds(task.finished, began),
                    "fanout": fanout[task.task_id],
                    "fanout_count": len(fanout[task.task_id]),
                }
            )
    return {"version": 1, **_SIMULATED, "tasks": tasks}


def chip_swimlane_records(records: Records, level: int, backend: str) -> dict[str, Any]:
    """``chip_swimlane_records.json``, the second generation, in cycles of the device's clock."""
    frequency, began = CLOCK_HZ[backend], records.began()

    def cycles(nanoseconds: int) -> int:
        return (nanoseconds - began) * frequency // 1_000_000_000

    rows = records.core_records
    data: dict[str, Any] = {
        "chip_swimlane_level": level,
        "metadata": {
            "clock_freq_hz": frequency,
            "num_cores": AIC_CORES + AIV_CORES,
            "core_types": ["aic"] * AIC_CORES + ["aiv"] * AIV_CORES,
            **_SIMULATED,
        },
        "aicore_tasks": [
            [row.core_id, row.task_id, row.number, cycles(row.start), cycles(row.end)] for row in rows
        ],
    }
    if level >= 2:
        data["aicpu_tasks"] = [
            [row.core_id, row.number, cycles(task.dispatched), cycles(task.finished)]
            for task in records.tasks
            for row in task.records
        ]
    return data


def name_map(functions: Sequence[str]) -> dict[str, Any]:
    """``name_map_*.json``: what the kernels of the ids are called."""
    names = {str(number): name for number, name in enumerate(functions)}
    return {"level": 2, "orchestrator_name": None, "callable_id_to_name": names}
