"""The timeline of a run as Chrome trace events, which ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from pypto_tmpl.runtime.records.dispatches import Dispatch, Message, by_owner
from pypto_tmpl.runtime.records.model import CoreRecord, Records, Task
from pypto_tmpl.runtime.records.recorder import AIC_CORES, AIV_CORES
from pypto_tmpl.runtime.records.signals import Sent, delivered, signalled
from pypto_tmpl.runtime.records.swimlane import microseconds, successors

_PID = 1
_DISPATCHES = 1_000_000  # a lane that no core has
_VIEW = "AICore View (simulated, host clock)"


def merged_swimlane(records: Records) -> dict[str, Any]:
    """``merged_swimlane_*.json``: a lane for each core that ran, a bar for each stretch of a task on it, an
    arrow from every bar of a task to every bar of the tasks that wait for it.

    Where one stretch begins on a core before another has ended, as in a group that a lane of a group calls,
    its bar has a further lane of that core: viewers show no bars that overlap.
    """
    process = _Process(_PID, _VIEW, records.began(), [records])
    return _file([*process.lanes(), *process.bars(records), *process.arrows(records, count(1))])


def swimlane_of_ranks(dispatches: Sequence[Dispatch]) -> dict[str, Any]:
    """The same for several ranks: a process for each, with a lane for its dispatches above its cores.

    One-sided operations and waits are bars inside of that of their core, with an arrow from each notify to
    the wait that it has ended, from the writes that it tells of to the same wait, and from a dispatch to
    those that follow it.
    """
    times = [one.began for one in dispatches if one.began]
    began, numbers = min(times, default=0), count(1)
    events: list[dict[str, Any]] = []
    processes: dict[int | None, _Process] = {}
    for pid, (rank, own) in enumerate(by_owner(dispatches).items(), _PID):
        name = f"{own[0].owner} (simulated, host clock)"
        processes[rank] = process = _Process(pid, name, began, [one.records for one in own])
        events += [*process.lanes(), *process.dispatch_bars(own)]
        for one in own:
            label = f"{one.label} "
            events += process.bars(one.records, label)
            events += process.arrows(one.records, numbers)
            events += process.message_bars(one.messages)
    for one in dispatches:
        for before in one.after:
            if before.ended and one.began:
                tail = processes[before.rank].dispatch_end(before)
                events += _pair("follows", next(numbers), tail, processes[one.rank].dispatch_begin(one))
    signals = signalled(dispatches)
    for kind, pairs in (("signal", signals), ("write", delivered(signals))):
        for source, wait in pairs:
            events += _pair(kind, next(numbers), *_ends(processes, source, wait))
    return _file(events)


def _ends(processes: Mapping[int | None, _Process], source: Sent, wait: Sent) -> tuple[_Point, _Point]:
    """Where an arrow from a message to a wait begins and ends."""
    sent, got = source.message, wait.message
    arriving = max(got.start, min(got.end - 1, sent.end))
    tail = processes[source.dispatch.rank].place(sent.row, sent.start)
    return tail, processes[wait.dispatch.rank].place(got.row, arriving)


def _file(events: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"simulated": True, "clock": "host"},
    }


class _Process:
    """The lanes of what one simulated chip has run: those of its cores, and one of its dispatches."""

    def __init__(self, pid: int, name: str, began: int, all_records: Sequence[Records]) -> None:
        self._pid, self._name, self._began = pid, name, began
        self._rows = [row for records in all_records for row in records.core_records]
        self._tracks = _tracks(self._rows)

    def place(self, row: CoreRecord, time: int) -> _Point:
        """A time on the lane of a stretch."""
        return _Point(self._pid, self._lane_id(row), microseconds(time, self._began))

    def dispatch_begin(self, dispatch: Dispatch) -> _Point:
        """Where the bar of a dispatch begins."""
        return _Point(self._pid, _DISPATCHES, microseconds(dispatch.began, self._began))

    def dispatch_end(self, dispatch: Dispatch) -> _Point:
        """Where it ends; viewers bind an arrow to no bar that has ended already."""
        last = max(dispatch.began, dispatch.ended - 1)
        return _Point(self._pid, _DISPATCHES, microseconds(last, self._began))

    def _lane_id(self, row: CoreRecord) -> int:
        """The lane of a stretch: that of the core has the core's id, further ones ids that no core has."""
        return row.core_id + self._tracks[id(row)] * (AIC_CORES + AIV_CORES)

    def lanes(self) -> Iterator[dict[str, Any]]:
        """What viewers call the process and its lanes, and their order."""
        yield self._meta("process_name", 0, {"name": self._name})
        yield self._meta("process_sort_index", 0, {"sort_index": self._pid})
        lanes = {(row.core_id, self._tracks[id(row)]): row for row in self._rows}
        for (core_id, track), row in sorted(lanes.items(), key=lambda lane: lane[0]):
            lane, further = self._lane_id(row), f" ({track + 1})" if track else ""
            yield self._meta("thread_name", lane, {"name": f"{row.core_type.upper()}_{core_id}{further}"})
            yield self._meta("thread_sort_index", lane, {"sort_index": core_id})

    def _meta(self, name: str, tid: int, args: dict[str, Any]) -> dict[str, Any]:
        return {"ph": "M", "cat": "__metadata", "name": name, "pid": self._pid, "tid": tid, "args": args}

    def bars(self, records: Records, before_label: str = "") -> Iterator[dict[str, Any]]:
        """A bar for each stretch of a task on a core."""
        fanout = successors(records)
        labels = {task.task_id: task.label for task in records.tasks}
        for task in records.tasks:
            after = [labels[other] for other in fanout[task.task_id]]
            before = [labels[edge.pred] for edge in task.edges if edge.pred in labels]
            for row in task.records:
                yield {
                    "ph": "X",
                    "cat": "event",
                    "name": f"{records.functions[row.func_id]}({before_label}{task.label})",
                    "pid": self._pid,
                    "tid": self._lane_id(row),
                    "ts": microseconds(row.start, self._began),
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

    def dispatch_bars(self, dispatches: Sequence[Dispatch]) -> Iterator[dict[str, Any]]:
        """The lane of the dispatches, above those of cores, and a bar for each that ran."""
        yield self._meta("thread_name", _DISPATCHES, {"name": "dispatches"})
        yield self._meta("thread_sort_index", _DISPATCHES, {"sort_index": -1})
        for one in dispatches:
            if one.ended:
                span = microseconds(one.ended, one.began)
                name, args = f"{one.label} {one.name}", {"tasks": len(one.records.tasks), "simulated": True}
                yield self._bar("dispatch", name, _DISPATCHES, one.began, span, args)

    def message_bars(self, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
        """A bar for each one-sided operation and each wait, inside of that of its core."""
        for one in messages:
            name, lane = f"{one.kind} {one.text}", self._lane_id(one.row)
            args = {"taskId": one.task.task_id, "simulated": True}
            yield self._bar(one.kind, name, lane, one.start, microseconds(one.end, one.start), args)

    def _bar(
        self, kind: str, name: str, tid: int, start: int, span: float, args: dict[str, Any]
    ) -> dict[str, Any]:
        time = microseconds(start, self._began)
        what = {"ph": "X", "cat": kind, "name": name, "pid": self._pid, "tid": tid}
        return {**what, "ts": time, "dur": span, "args": args}

    def arrows(self, records: Records, numbers: Iterator[int]) -> Iterator[dict[str, Any]]:
        """Arrows between bars; a task without bars of its own hands on those of the tasks that it waits for.

        None leads back in time: it leaves a bar that ends later when the next one begins, and one that begins
        later leads to the same time in the next one, if that lasts so long.
        """
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
                    tail, head = self.place(source, leaving), self.place(row, arriving)
                    yield from _pair("dependency", next(numbers), tail, head)


def _tracks(rows: Sequence[CoreRecord]) -> dict[int, int]:
    """Which lane of its core each stretch is on, by its identity: the first one that is free."""
    ends: dict[int, list[int]] = {}
    tracks: dict[int, int] = {}
    for row in sorted(rows, key=lambda row: (row.start, row.number)):
        used = ends.setdefault(row.core_id, [])
        track = next((track for track, end in enumerate(used) if end <= row.start), len(used))
        used[track : track + 1] = [row.end]
        tracks[id(row)] = track
    return tracks


def _hint(labels: list[str]) -> str:
    return ", ".join(dict.fromkeys(labels)) or "none"


def _duration(row: CoreRecord) -> float:
    return microseconds(row.end, row.start)


def _rows_before(task: Task, tails: dict[int, list[CoreRecord]]) -> list[CoreRecord]:
    rows = (row for edge in task.edges for row in tails.get(edge.pred, ()))
    return list({row.number: row for row in rows}.values())


@dataclass(frozen=True, slots=True)
class _Point:
    """A time on a lane of a process, where an arrow begins or ends."""

    pid: int
    tid: int
    time: float


def _pair(name: str, number: int, tail: _Point, head: _Point) -> Iterator[dict[str, Any]]:
    """An arrow, whose ends viewers bind to the bars around them."""
    yield _arrow("s", name, number, tail)
    yield _arrow("f", name, number, head) | {"bp": "e"}


def _arrow(phase: str, name: str, number: int, at: _Point) -> dict[str, Any]:
    end = {"ph": phase, "cat": "flow", "name": name, "id": number}
    return {**end, "pid": at.pid, "tid": at.tid, "ts": at.time}
