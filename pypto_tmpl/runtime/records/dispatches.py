"""What is recorded of a run on several ranks: its dispatches, each with records of its own, and messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pypto_tmpl.runtime.records.model import CoreRecord, Records, Task


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal cell and a number: what a notify adds to it, or a wait wants at least.

    ``is_exact``: the notify sets the cell to the number, the wait wants just that.
    """

    cell: tuple[int, int, int]  # number of the window, rank of its domain, place
    number: int
    is_exact: bool

    def is_reached(self, value: int) -> bool:
        """Whether a wait for this ends at a value."""
        return value == self.number if self.is_exact else value >= self.number

    def changed(self, value: int) -> int:
        """What a notify makes of a value."""
        return self.number if self.is_exact else value + self.number


@dataclass(slots=True, eq=False)
class Message:
    """A one-sided operation or a wait in a core's part of a task. Nanoseconds."""

    kind: str  # notify, wait, put to peer, remote load, ...
    text: str  # what it does to which cells, and of whom
    task: Task
    row: CoreRecord
    start: int
    peer: int | None = None  # the rank whose window it is about; none of a wait
    end: int = 0
    signal: Signal | None = None  # of a notify, and of a wait that has ended


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


def by_owner(dispatches: Sequence[Dispatch]) -> dict[int | None, list[Dispatch]]:
    """The dispatches of each rank in their order, by rank, those of the host last."""
    ranks = sorted({one.rank for one in dispatches if one.rank is not None})
    owners: list[int | None] = [*ranks, *([None] if any(one.rank is None for one in dispatches) else [])]
    return {owner: [one for one in dispatches if one.rank == owner] for owner in owners}
