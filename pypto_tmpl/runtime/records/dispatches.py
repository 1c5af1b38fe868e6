"""What is recorded of a run on several ranks: its dispatches, each with records of its own, and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pypto_tmpl.runtime.records.model import CoreRecord, Records, Task

INDEX = "ranks.json"


@dataclass(slots=True, eq=False)
class Message:
    """A one-sided operation or a wait in a core's part of a task. Nanoseconds.

    ``sources`` of a wait are the notifies that it has come after, of this rank and of others.
    """

    kind: str  # notify, wait, put to peer, remote load, ...
    text: str  # what it does to which cells, and of whom
    dispatch: Dispatch
    task: Task
    row: CoreRecord
    start: int
    end: int = 0
    sources: Sequence[Message] = ()


@dataclass(slots=True, eq=False)
class Dispatch:
    """A call that the host submits: the ``number``-th of a rank, or of the host itself (None)."""

    rank: int | None
    device: int | None
    number: int
    name: str
    records: Records
    after: Sequence[Dispatch] = ()  # those that it follows
    messages: list[Message] = field(default_factory=list)
    began: int = 0
    left: int = 0  # when the function returned, some of whose tasks may have gone on

    @property
    def ended(self) -> int:
        """When the function and all of its tasks had ended, 0 if it has not run."""
        return self.left and max([self.left, *(task.finished for task in self.records.tasks)])

    @property
    def folder(self) -> str:
        """Where its files are, below the folder of the run."""
        return f"rank{self.rank}/d{self.number}"

    @property
    def label(self) -> str:
        """``d0``: its number on its rank."""
        return f"d{self.number}"

    @property
    def owner(self) -> str:
        """How pages call whoever runs it."""
        return "host" if self.rank is None else f"rank {self.rank} (device {self.device})"


def signalled(dispatches: Sequence[Dispatch]) -> Iterator[tuple[Message, Message]]:
    """Each notify with the wait that it has ended."""
    for dispatch in dispatches:
        for message in dispatch.messages:
            for source in message.sources:
                yield source, message


def by_owner(dispatches: Sequence[Dispatch]) -> dict[int | None, list[Dispatch]]:
    """The dispatches of each rank in their order, by rank, those of the host last."""
    ranks = sorted({one.rank for one in dispatches if one.rank is not None})
    owners: list[int | None] = [*ranks, *([None] if any(one.rank is None for one in dispatches) else [])]
    return {owner: [one for one in dispatches if one.rank == owner] for owner in owners}


def index_of_ranks(dispatches: Sequence[Dispatch]) -> dict[str, Any]:
    """``ranks.json``: which dispatch each folder is of, and which notify has ended which wait."""
    return {
        "version": 1,
        "simulated": True,
        "dispatches": [
            {
                "rank": one.rank,
                "device": one.device,
                "dispatch": one.number,
                "name": one.name,
                "folder": one.folder,
                "tasks": len(one.records.tasks),
            }
            for one in dispatches
            if one.rank is not None
        ],
        "signals": [
            {"from": _place(source), "to": _place(message)} for source, message in signalled(dispatches)
        ],
    }


def _place(message: Message) -> dict[str, Any]:
    where = {"rank": message.dispatch.rank, "dispatch": message.dispatch.number}
    return {**where, "task_id": str(message.task.task_id), "text": message.text}
