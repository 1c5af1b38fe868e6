"""What is recorded of a run: its tasks, their arguments and dependencies, and what ran on which core."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pypto_tmpl.runtime.records.plan import CoreType
from pypto_tmpl.runtime.records.tensors import View

ArgType = Literal["INPUT", "OUTPUT", "INOUT", "NO_DEP", "SCALAR"]
Subtask = Literal["AIC", "AIV0", "AIV1"]
RING = 1  # of the device's four rings of tasks the simulated run time has one
FIRST_TASK = RING << 32


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of a task; tensors come before scalars, as the device packs them."""

    index: int
    name: str
    type: ArgType
    view: View | None
    value: int | float | bool | str | None = None  # a text is the rank of a context
    cores: frozenset[CoreType] = frozenset()  # of a mixed kernel: whose member uses it


@dataclass(frozen=True, slots=True)
class Edge:
    """Why one task comes before another: a stated dependency, or cells that it writes and the other reads."""

    pred: int
    succ: int
    arg: int = -1  # of the successor; none of a stated one
    consumer: View | None = None
    producer: View | None = None
    is_covered: bool = False

    @property
    def is_explicit(self) -> bool:
        return self.consumer is None


@dataclass(slots=True)
class Work:
    """What a core's part of a task computed: see ``work.py`` for what counts as what."""

    elements: int = 0
    bytes_moved: int = 0
    flops: int = 0
    ops: dict[str, list[int]] = field(default_factory=dict)  # calls, elements, bytes, FLOPs by torch op


@dataclass(slots=True)
class CoreRecord:
    """One stretch of a task on one core; ``number`` tells those of one core apart. Nanoseconds."""

    number: int
    task_id: int
    func_id: int
    core_id: int
    core_type: CoreType
    block: int
    start: int
    end: int = 0
    work: Work | None = None


@dataclass(slots=True)
class Task:
    """A launch: what it is called, what it got, what it waited for, and what ran for it. Nanoseconds."""

    task_id: int
    name: str = ""
    is_manual: bool = False
    is_dummy: bool = False
    block_num: int = 1
    kernel_ids: dict[Subtask, int] = field(default_factory=dict)
    args: list[Arg] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    records: list[CoreRecord] = field(default_factory=list)
    dispatched: int = 0
    finished: int = 0

    def subtasks_of(self, arg: Arg) -> list[Subtask]:
        """The parts of the task that use an argument: all of them where that is not known."""
        parts = sorted(self.kernel_ids)
        return [part for part in parts if part[:3].lower() in arg.cores] or parts

    @property
    def label(self) -> str:
        """``r1t0``: ring and number in it."""
        return task_label(self.task_id)


def task_label(task_id: int) -> str:
    """``r1t0``: the ring of a task and its number in it."""
    return f"r{task_id >> 32}t{task_id & 0xFFFFFFFF}"


@dataclass(slots=True)
class Records:
    """All of a run: tasks in the order of their launch, kernels by their ids."""

    tasks: list[Task] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)

    @property
    def core_records(self) -> list[CoreRecord]:
        """What ran on cores, by task."""
        return [record for task in self.tasks for record in task.records]

    def began(self) -> int:
        """The earliest time of all, 0 where there is none."""
        times = [task.dispatched for task in self.tasks if task.dispatched]
        return min([*times, *(record.start for record in self.core_records)], default=0)
