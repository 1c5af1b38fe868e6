"""Recording the tasks of a run: what the marks and hooks of a loaded script tell, as it happens."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol

import torch

from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.runtime.records.dependencies import Place, Producers
from pypto_tmpl.runtime.records.model import (
    FIRST_TASK,
    Arg,
    ArgType,
    CoreRecord,
    Edge,
    Records,
    Subtask,
    Task,
    Work,
)
from pypto_tmpl.runtime.records.plan import CoreType, TaskPlan
from pypto_tmpl.runtime.records.tensors import Buffers
from pypto_tmpl.runtime.records.work import WorkCounter

AIC_CORES, AIV_CORES = 24, 48  # what the simulated run time tells a program that asks


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of a launch: its name, its declared direction and its value."""

    name: str
    direction: str  # In, Out, InOut, or New for what a scope made
    value: Any
    cores: frozenset[CoreType] = frozenset()  # in a group: whose member uses it


@dataclass(frozen=True, slots=True)
class Asked:
    """What a launch asks for beside its call; ``marked`` are the tensors to dump, by their names.

    ``args`` are its arguments where they are known, and what it waits for with them, before it runs.
    """

    note: LaunchNote = LaunchNote()
    marked: Mapping[str, torch.Tensor] = field(default_factory=dict)
    place: Place = None
    args: Sequence[Arg] | None = None


class ArgSink(Protocol):
    """Takes the arguments of a task before and after it runs, ``values`` one for each of ``args``."""

    def before(
        self, task: Task, args: Sequence[Arg], values: Sequence[Any], marked: Sequence[torch.Tensor]
    ) -> None: ...

    def after(
        self, task: Task, args: Sequence[Arg], values: Sequence[Any], marked: Sequence[torch.Tensor]
    ) -> None: ...


class Here(threading.local):
    """What the calling thread is in: a task that was launched, a core's part of it that runs.

    ``pending`` is a task of a statement that may yet decide not to launch it.
    """

    task: Task | None = None
    record: CoreRecord | None = None
    pending: tuple[Task, Asked] | None = None


class Recorder:
    """Collects the tasks of one run.

    Tasks are launched by one thread, the cores of a mixed kernel run on threads of their own. A launch
    within a task is a part of it: a kernel of a group, a block, a function that a kernel calls.
    """

    def __init__(
        self,
        plan: TaskPlan,
        *,
        counts_work: bool = False,
        sink: ArgSink | None = None,
        block_of: Callable[[], int] = lambda: 0,
        on_task_id: Callable[[int], None] = lambda task_id: None,
        on_task: Callable[[], None] = lambda: None,
        clock: Callable[[], int] = time.perf_counter_ns,
        here: Here | None = None,
    ) -> None:
        self.records = Records()
        self.unmatched: list[str] = []  # marks that no argument is
        self._plan, self._sink, self._counts_work = plan, sink, counts_work
        self._block_of, self._on_task_id, self._clock = block_of, on_task_id, clock
        self._on_task = on_task
        self._here, self._lock = Here() if here is None else here, threading.Lock()
        self._buffers, self._producers = Buffers(), Producers()
        self._function_ids: dict[str, int] = {}
        self._count = 0  # of stretches on cores
        self._rounds: dict[
            int, tuple[int, int]
        ] = {}  # of each parallel loop: its runs, iterations of this one

    # What the marks in the script say

    def ask(self, line: int, deps: Iterable[Any]) -> None:
        """The statement on a line is about to launch something that waits for the tasks ``deps``."""
        if self._here.task is not None:
            return
        launch = self._plan.launches[line]
        task = self._new_task(launch.is_manual, deps)
        marked = _tensors_of(sys._getframe(1), launch.note.dumps)
        self._here.pending = (task, Asked(launch.note, marked, self._place(launch.loops)))
        if launch.is_dummy:
            task.is_dummy, task.name, self._here.pending = True, "dummy", None
            task.dispatched = task.finished = self._clock()

    def settle(self) -> None:
        """That statement is done, whether it has launched anything or not."""
        if self._here.task is None:
            self._here.pending = None

    def loop(self, number: int) -> None:
        """A parallel loop starts."""
        self._rounds[number] = (self._rounds.get(number, (0, 0))[0] + 1, 0)

    def iteration(self, number: int) -> None:
        """The next iteration of a parallel loop starts."""
        run, iteration = self._rounds[number]
        self._rounds[number] = (run, iteration + 1)

    def _place(self, loops: Sequence[int]) -> Place:
        """Which run of parallel loops a launch is in, and which iterations of them."""
        rounds = tuple(self._rounds[number] for number in loops)
        return ((loops[0], rounds[0][0]), rounds) if loops else None

    @contextmanager
    def scope(self, number: int, deps: Iterable[Any]) -> Iterator[None]:
        """The lines of a scope run: they are a task, or a part of the task that they are in."""
        scope, frame = self._plan.scopes[number], sys._getframe(2)
        if self._here.task is not None:
            with self.part(scope.name, scope.core):
                yield
            return
        known = {id(value) for value in frame.f_locals.values()}
        used = [
            (name, value)
            for name in scope.names
            if isinstance(value := frame.f_locals.get(name), torch.Tensor)
        ]
        versions = [_version(value) for _, value in used]
        asked = Asked(scope.note, _tensors_of(frame, scope.note.dumps), self._place(scope.loops))
        task = self._new_task(scope.is_manual, deps)
        with self._running(task, scope.name, [Given(n, "In", v) for n, v in used], asked) as bind:
            if scope.is_block_loop:
                yield
            else:
                with self.part(scope.name, scope.core):
                    yield
            directions = [_direction(v, version) for (_, v), version in zip(used, versions, strict=True)]
            given = [Given(n, direction, v) for (n, v), direction in zip(used, directions, strict=True)]
            made = ((name, frame.f_locals.get(name)) for name in scope.note.outputs)
            new = {
                id(value): Given(name, "New", value)
                for name, value in made
                if isinstance(value, torch.Tensor) and id(value) not in known
            }
            bind([*given, *new.values()], _tensors_of(frame, scope.note.dumps))

    @contextmanager
    def block(self, number: int) -> Iterator[None]:
        """One block of a scope of blocks."""
        scope = self._plan.scopes[number]
        with self.part(scope.name, scope.core):
            yield

    # What the hooks say

    @contextmanager
    def launch(self, name: str, given: Sequence[Given], block_num: int | None = None) -> Iterator[None]:
        """Something of the program is launched; within a task this is nothing of its own."""
        inside = self._here.task
        if inside is not None:
            if block_num is not None and self._here.record is None:
                inside.block_num = block_num
            yield
            return
        task, asked = self._here.pending or (self._new_task(False, ()), Asked())
        self._here.pending = None
        task.block_num = 1 if block_num is None else block_num
        with self._running(task, name, given, asked):
            yield

    @contextmanager
    def part(
        self, name: str, core: CoreType, lane: int | None = None, task: Task | None = None
    ) -> Iterator[None]:
        """A function or scope runs on a core; what it calls is a part of that.

        ``lane`` is its vector core in a group, ``task`` what it belongs to if another thread launched it.
        """
        here = self._here
        owner = task or here.task
        if here.record is not None or owner is None:
            yield
            return
        outer, record = here.task, self._begin(owner, name, core, lane)
        here.task, here.record = owner, record
        try:
            if record.work is None:
                yield
            else:
                with WorkCounter(record.work):
                    yield
        finally:
            record.end = self._clock()
            here.task, here.record = outer, None

    def current(self) -> Task | None:
        """The task that the calling thread is in."""
        return self._here.task

    def hand_over(self) -> None:
        """What runs here goes on on cores of its own: a vector core's part that only starts them is none."""
        record, task = self._here.record, self._here.task
        if record is not None and task is not None and record.core_type == "aiv" and record in task.records:
            with self._lock:
                task.records.remove(record)

    # Tasks and their parts

    def _new_task(self, is_manual: bool, deps: Iterable[Any]) -> Task:
        task = Task(FIRST_TASK + len(self.records.tasks), is_manual=is_manual)
        self.records.tasks.append(task)
        task.edges += [Edge(pred, task.task_id) for pred in _task_ids(deps)]
        self._on_task_id(task.task_id)
        return task

    @contextmanager
    def _running(
        self, task: Task, name: str, given: Sequence[Given], asked: Asked
    ) -> Iterator[Callable[[Sequence[Given], Mapping[str, torch.Tensor]], None]]:
        """A task from its launch to its end.

        Gives what binds its arguments, and the marked ones, anew once they are known.
        """
        self._on_task()
        task.name, task.dispatched = name, self._clock()
        known = [(given, asked.marked)]
        args, values = self._args(given, asked)
        if self._sink is not None:
            self._sink.before(task, args, values, tuple(asked.marked.values()))
        self._here.task = task
        try:
            yield lambda better, marked: known.append((better, marked))
        finally:
            self._here.task = None
            task.finished = self._clock()
            given, marked = known[-1]
            at_start = values
            args, values = self._args(given, asked)
            task.args = args
            if asked.args is None:
                task.edges += self._producers.submit(task.task_id, args, asked.place)
            if self._sink is not None:
                self._sink.after(task, args, values, tuple(marked.values()))
                self._note_unmatched(task, asked.note.dumps, [(asked.marked, at_start), (marked, values)])

    def _note_unmatched(
        self,
        task: Task,
        names: Iterable[str],
        seen: Sequence[tuple[Mapping[str, torch.Tensor], Sequence[Any]]],
    ) -> None:
        """Note which names a launch marks that were no argument of the task, neither before nor after it."""
        for name in names:
            if not any(value is marked.get(name, self) for marked, values in seen for value in values):
                self.unmatched.append(f"{task.name} ({task.label}) marks {name!r}, which it does not take")

    def _args(self, given: Sequence[Given], asked: Asked) -> tuple[list[Arg], list[Any]]:
        """The arguments as the device packs them, tensors before scalars, and their values."""
        tensors: list[tuple[Given, bool]] = []
        free = asked.note.no_dep
        scalars: list[Given] = []
        for position, one in enumerate(given):
            if isinstance(one.value, torch.Tensor):
                tensors.append((one, position in free or one.name in free))
            else:
                scalars.append(one)
        values = [*(one.value for one, _ in tensors), *(one.value for one in scalars)]
        if asked.args is not None:
            return [*asked.args], values
        args: list[Arg] = []
        for one, is_free in tensors:
            view = self._buffers.view(one.value)
            type_: ArgType = "OUTPUT"
            if one.direction != "New":
                type_ = "NO_DEP" if is_free else self._producers.type_of(one.direction, view, asked.place)
            args.append(Arg(len(args), one.name, type_, view, cores=one.cores))
        for one in scalars:
            args.append(Arg(len(args), one.name, "SCALAR", None, one.value, one.cores))
        return args, values

    def _begin(self, task: Task, name: str, core: CoreType, lane: int | None) -> CoreRecord:
        block = self._block_of()
        subtask: Subtask = "AIC" if core == "aic" else "AIV1" if lane else "AIV0"
        if core == "aic":
            core_id = block % AIC_CORES
        else:
            core_id = AIC_CORES + (block if lane is None else 2 * block + lane) % AIV_CORES
        with self._lock:
            function_id = self._function_ids.setdefault(name, len(self._function_ids))
            if function_id == len(self.records.functions):
                self.records.functions.append(name)
            task.kernel_ids.setdefault(subtask, function_id)
            record = CoreRecord(self._count, task.task_id, function_id, core_id, core, block, 0)
            self._count += 1
            task.records.append(record)
            task.block_num = max(task.block_num, block + 1)
        if self._counts_work:
            record.work = Work()
        record.start = self._clock()
        return record


def _task_ids(deps: Iterable[Any]) -> list[int]:
    """The valid ids among task ids and arrays of them, each once."""
    flat = (one for dep in deps for one in (dep if isinstance(dep, list) else [dep]))
    return list(dict.fromkeys(one for one in flat if one >= FIRST_TASK))


def _tensors_of(frame: FrameType, names: Iterable[str]) -> Mapping[str, torch.Tensor]:
    values = {name: frame.f_locals.get(name) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}


def _version(tensor: torch.Tensor) -> int | None:
    """How often a tensor was written; not known for one of inference mode."""
    return None if tensor.is_inference() else tensor._version


def _direction(tensor: torch.Tensor, before: int | None) -> str:
    """Whether what a scope used was written, too: nothing declares that."""
    return "In" if before is not None and _version(tensor) == before else "InOut"
