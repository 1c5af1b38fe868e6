"""The timeline of a run as Chrome trace events, which ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pypto_tmpl.runtime.records.model import CoreRecord, Records, Task
from pypto_tmpl.runtime.records.recorder import AIC_CORES, AIV_CORES
from pypto_tmpl.runtime.records.swimlane import microseconds, successors

_PID = 1
_VIEW = "AICore View (simulated, host clock)"


def merged_swimlane(records: Records) -> dict[str, Any]:
    """``merged_swimlane_*.json``: a lane for each core that ran, a bar for each stretch of a task on it, an
    arrow from every bar of a task to every bar of the tasks that wait for it.

    Where one stretch begins on a core before another has ended, as in a group that a lane of a group calls,
    its bar has a further lane of that core: viewers show no bars that overlap.
    """
    tracks = _tracks(records)
    return {
        "traceEvents": [*_lanes(records, tracks), *_bars(records, tracks), *_arrows(records, tracks)],
        "displayTimeUnit": "ns",
        "otherData": {"simulated": True, "clock": "host"},
    }


def _tracks(records: Records) -> dict[int, int]:
    """Which lane of its core each stretch is on, by its number: the first one that is free."""
    ends: dict[int, list[int]] = {}
    tracks: dict[int, int] = {}
    for row in sorted(records.core_records, key=lambda row: (row.start, row.number)):
        used = ends.setdefault(row.core_id, [])
        track = next((track for track, end in enumerate(used) if end <= row.start), len(used))
        used[track : track + 1] = [row.end]
        tracks[row.number] = track
    return tracks


def _lane_id(row: CoreRecord, tracks: Mapping[int, int]) -> int:
    """The lane of a stretch: that of the core has the core's id, further ones ids that no core has."""
    return row.core_id + tracks[row.number] * (AIC_CORES + AIV_CORES)


def _lanes(records: Records, tracks: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    yield _meta("process_name", 0, {"name": _VIEW})
    yield _meta("process_sort_index", 0, {"sort_index": _PID})
    lanes = {(row.core_id, tracks[row.number]): row for row in records.core_records}
    for (core_id, track), row in sorted(lanes.items(), key=lambda lane: lane[0]):
        lane, further = _lane_id(row, tracks), f" ({track + 1})" if track else ""
        yield _meta("thread_name", lane, {"name": f"{row.core_type.upper()}_{core_id}{further}"})
        yield _meta("thread_sort_index", lane, {"sort_index": core_id})


def _meta(name: str, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "cat": "__metadata", "name": name, "pid": _PID, "tid": tid, "args": args}


def _bars(records: Records, tracks: Mapping[int, int]) -> Iterator[dict[str, Any]]:
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
                "tid": _lane_id(row, tracks),
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


def _arrows(records: Records, tracks: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Arrows between bars; a task without bars of its own hands on those of the tasks that it waits for.

    None leads back in time: it leaves a bar that ends later when the next one begins, and one that begins
    later leads to the same time in the next one, if that lasts so long.
    """
    began, number = records.began(), 0
    tails: dict[int, list[CoreRecord]] = {}
    for task in records.tasks:
        before = _rows_before(task, tails)
        tails[task.task_id] = task.records or before
        for row in task.records:
            for source in before:
                # Both ends lie in their bars, else viewers bind them to none.
                leaving = max(source.start, min(source.end - 1, row.start))
                arriving = max(row.start, leaving)
                if arriving > row.start and arriving >= row.end:
                    continue
                number += 1
                yield _arrow("s", number, _lane_id(source, tracks), microseconds(leaving, began))
                yield _arrow("f", number, _lane_id(row, tracks), microseconds(arriving, began)) | {"bp": "e"}


def _rows_before(task: Task, tails: dict[int, list[CoreRecord]]) -> list[CoreRecord]:
    rows = (row for edge in task.edges for row in tails.get(edge.pred, ()))
    return list({row.number: row for row in rows}.values())


def _arrow(phase: str, number: int, lane: int, time: float) -> dict[str, Any]:
    return {
        "ph": phase,
        "cat": "flow",
        "name": "dependency",
        "id": number,
        "pid": _PID,
        "tid": lane,
        "ts": time,
    }
