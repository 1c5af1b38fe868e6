"""The timeline of a run as Chrome trace events, which ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pypto_tmpl.runtime.records.model import CoreRecord, Records, Task
from pypto_tmpl.runtime.records.swimlane import microseconds, successors

_PID = 1
_VIEW = "AICore View (simulated, host clock)"


def merged_swimlane(records: Records) -> dict[str, Any]:
    """``merged_swimlane_*.json``: a lane for each core that ran, a bar for each stretch of a task on it, an
    arrow from every bar of a task to every bar of the tasks that wait for it."""
    bars = list(_bars(records))
    return {
        "traceEvents": [*_lanes(records), *bars, *_arrows(records)],
        "displayTimeUnit": "ns",
        "otherData": {"simulated": True, "clock": "host"},
    }


def _lanes(records: Records) -> Iterator[dict[str, Any]]:
    yield _meta("process_name", 0, {"name": _VIEW})
    yield _meta("process_sort_index", 0, {"sort_index": _PID})
    cores = sorted({(row.core_id, row.core_type) for row in records.core_records})
    for core_id, core_type in cores:
        yield _meta("thread_name", core_id, {"name": f"{core_type.upper()}_{core_id}"})
        yield _meta("thread_sort_index", core_id, {"sort_index": core_id})


def _meta(name: str, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "cat": "__metadata", "name": name, "pid": _PID, "tid": tid, "args": args}


def _bars(records: Records) -> Iterator[dict[str, Any]]:
    began, fanout = records.began(), successors(records)
    labels = {task.task_id: task.label for task in records.tasks}
    for task in records.tasks:
        after = [labels[other] for other in fanout[task.task_id]]
        before = [labels[edge.pred] for edge in task.edges if edge.pred in labels]
        for row in task.records:
            yield {
                "ph": "X",
                "cat": "event",
                "name": f"{records.functions[row.func_id]}({task.label})",
                "pid": _PID,
                "tid": row.core_id,
                "ts": microseconds(row.start, began),
                "dur": _duration(row),
                "id": row.number,
                "args": {
                    "event-hint": f"Task:{task.label}, FuncId:{row.func_id}, CoreId:{row.core_id}",
                    "fanin-hint": _hint(before),
                    "fanout-hint": _hint(after),
                    "duration-us": _duration(row),
                    "taskId": task.task_id,
                    "block": row.block,
                    "simulated": True,
                },
            }


def _hint(labels: list[str]) -> str:
    return ", ".join(dict.fromkeys(labels)) or "none"


def _duration(row: CoreRecord) -> float:
    return microseconds(row.end, row.start)


def _arrows(records: Records) -> Iterator[dict[str, Any]]:
    """Arrows between bars; a task without bars of its own hands on those of the tasks that it waits for."""
    began, number = records.began(), 0
    tails: dict[int, list[CoreRecord]] = {}
    for task in records.tasks:
        before = _rows_before(task, tails)
        tails[task.task_id] = task.records or before
        for row in task.records:
            for source in before:
                number += 1
                leaving = max(source.start, source.end - 1)  # still in its bar, else viewers bind it to none
                yield _arrow("s", number, source, leaving, began)
                yield _arrow("f", number, row, row.start, began) | {"bp": "e"}


def _rows_before(task: Task, tails: dict[int, list[CoreRecord]]) -> list[CoreRecord]:
    rows = (row for edge in task.edges for row in tails.get(edge.pred, ()))
    return list({row.number: row for row in rows}.values())


def _arrow(phase: str, number: int, row: CoreRecord, time: int, began: int) -> dict[str, Any]:
    return {
        "ph": phase,
        "cat": "flow",
        "name": "dependency",
        "id": number,
        "pid": _PID,
        "tid": row.core_id,
        "ts": microseconds(time, began),
    }
