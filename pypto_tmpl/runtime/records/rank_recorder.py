"""Recording a run on several ranks: a recorder for each dispatch, and the hooks that say whose turn it is."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from pypto_tmpl.runtime.records.dispatches import Dispatch, Message, Signal
from pypto_tmpl.runtime.records.hooks import launch_of
from pypto_tmpl.runtime.records.model import Edge, Records, Task
from pypto_tmpl.runtime.records.plan import ScopeLines, TaskPlan
from pypto_tmpl.runtime.records.recorder import Asked, Given, Here, Recorder
from pypto_tmpl.runtime.records.ticker import TaskTicker

_Function = Callable[..., Any]
_PLACES: Mapping[str, tuple[int, int]] = {  # of the window and the peer among the arguments of a helper
    "_put_to_peer": (0, 1),
    "_get_from_peer": (2, 1),
    "_remote_load": (0, 1),
    "_remote_store": (1, 2),
}


class _FiberHere(Here):
    """What a fiber is in. Fibers that it starts, blocks and lanes, are in the same task."""

    def __init__(self, context: threading.local) -> None:
        self._context = context

    @property
    def task(self) -> Task | None:
        return getattr(self._context, "recorded_task", None)

    @task.setter
    def task(self, task: Task | None) -> None:
        self._context.recorded_task = task


class RankRecorder(Recorder):
    """Records the tasks of one dispatch, which runs in the fibers of its rank."""

    def __init__(self, plan: TaskPlan, dispatch: Dispatch, context: threading.local, **options: Any) -> None:
        super().__init__(plan, here=_FiberHere(context), **options)
        self.records = dispatch.records
        self.dispatch = dispatch
        self._ids: dict[int, int] = {}  # of tasks, by the numbers that the script gives them

    def submitted(
        self, function: _Function, args: Sequence[Any], deps: Sequence[int], is_manual: bool
    ) -> tuple[Task, _Function]:
        """The task of a launch, entered in the order of the program, and what runs as it when it is ready."""
        task, asked = self._here.pending or (self._new_task(is_manual, ()), Asked())
        self._here.pending = None
        task.is_manual = is_manual
        task.edges += [Edge(self._ids[dep], task.task_id) for dep in dict.fromkeys(deps) if dep in self._ids]
        values = [getattr(arg, "value", arg) for arg in args]
        name, given, block_num, scope = self._launched(function, values)
        if scope is not None:  # whose marks no statement has told
            marked = {one.name: one.value for one in given if one.name in scope.note.dumps}
            asked = Asked(scope.note, marked, self._place(scope.loops))
        given = [_directed(one, args) for one in given]
        known, _ = self._args(given, asked)
        edges = self._producers.submit(task.task_id, known, asked.place)
        task.args = known
        task.edges += [] if is_manual else edges
        asked = replace(asked, args=known)
        if name == "_nothing":
            task.is_dummy, name = True, "dummy"

        @functools.wraps(function)
        def run(*values: Any) -> Any:
            self._here.pending = (task, asked)
            with self.launch(name, given, block_num):
                if scope is None:
                    return function(*values)
                with self.part(scope.name, scope.core):
                    return function(*values)

        return task, run

    def number(self, task: Task, number: int) -> None:
        """Note the number by which the script names a task."""
        self._ids[number] = task.task_id

    def _launched(
        self, function: _Function, args: Sequence[Any]
    ) -> tuple[str, list[Given], int | None, ScopeLines | None]:
        """Name, arguments and blocks of what a launch runs, and which scope that is, if it is one."""
        if function.__name__ in ("_run_spmd", "_run_blocks"):
            name, given = launch_of(self._plan, args[1], args[2:])
            return name, given, int(args[0]), None
        scope = _scope_of(self._plan, function)
        if scope is None:
            return *launch_of(self._plan, function, args), None, None
        names = function.__code__.co_varnames
        given = [Given(name, "In", value) for name, value in zip(names, args, strict=False)]
        return scope.name, given, None, scope

    @contextmanager
    def message(self, kind: str, text: str, peer: int | None = None) -> Iterator[Message | None]:
        """A one-sided operation or a wait; None where no core runs it."""
        task, row = self._here.task, self._here.record
        if task is None or row is None:
            yield None
            return
        found = Message(kind, text, task, row, self._clock(), peer)
        self.dispatch.messages.append(found)
        try:
            yield found
        finally:
            found.end = self._clock()

    @contextmanager
    def whole(self, name: str, args: Sequence[Any]) -> Iterator[None]:
        """A dispatch that is one task: a collective of the host."""
        given = [Given(f"arg{place}", "InOut", arg) for place, arg in enumerate(args)]
        with self.launch(name, given), self.part(name, "aiv"):
            yield

    def _args(self, given: Sequence[Given], asked: Asked) -> tuple[list[Any], list[Any]]:
        """As the base; a context is told as its rank."""
        return super()._args([_told(one) for one in given], asked)


class RankRecorders:
    """The recorders of a run: what marks and hooks tell goes to that of the dispatch that runs.

    ``make`` gives the recorder of a dispatch, whose fibers share a context. What the host does itself is
    recorded by nobody, and what ranks do that other processes run, there: their ``dispatches`` are empty.
    """

    def __init__(
        self, namespace: dict[str, Any], make: Callable[[Dispatch, threading.local], RankRecorder]
    ) -> None:
        self.dispatches: list[Dispatch] = []
        self._make = make
        self._context: Any = namespace["_lane_context"]
        self._nobody = TaskTicker(lambda: None)
        self._of: dict[int, Dispatch] = {}  # by the identity of the script's dispatch
        self._scripts: list[Any] = []  # which keeps these
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        """What a recorder has, of the one whose dispatch the calling fiber runs."""
        return getattr(getattr(self._context, "recorder", None) or self._nobody, name)

    def attach(self) -> None:
        """Have the recorders told of dispatches, tasks and messages."""
        hooks: dict[str, Callable[[_Function], _Function]] = {
            "_submit": self._submitting,
            "_launched": self._launching,
            "_notify": self._notifying,
            "_wait": self._waiting,
            **{name: functools.partial(self._moving, name) for name in _PLACES},
        }
        for name, hook in hooks.items():
            if name in self._namespace:
                self._namespace[name] = functools.wraps(self._namespace[name])(hook(self._namespace[name]))

    @property
    def _here(self) -> RankRecorder | None:
        return getattr(self._context, "recorder", None)

    def _submitting(self, submit: _Function) -> _Function:
        def submitting(world: Any, script: Any, function: _Function) -> None:
            found = self._dispatch(world, script)
            if not world.engine.runs(script.device):
                submit(world, script, function)
                return
            recorder = None if found.rank is None else self._make(found, self._context)

            @functools.wraps(function)
            def run(*args: Any) -> Any:
                self._context.recorder, found.began = recorder, time.perf_counter_ns()
                try:
                    if recorder is None or not isinstance(function, functools.partial):
                        return function(*args)
                    with recorder.whole(script.name, args):
                        return function(*args)
                finally:
                    found.left = time.perf_counter_ns()

            submit(world, script, run)

        return submitting

    def _dispatch(self, world: Any, script: Any) -> Dispatch:
        """A dispatch as it is submitted."""
        rank, earlier = script.device, world.dispatches()
        before = [one for one in earlier if one.device == rank][-1:]
        before += [one for one in earlier if one.device != rank and one.touches(script.reads)]
        found = Dispatch(
            rank,
            None if rank is None else world.device_ids[rank],
            len(world.queues.get(rank, ())),
            script.name,
            Records(),
            [self._of[id(one)] for one in before if id(one) in self._of],
        )
        self.dispatches.append(found)
        self._scripts.append(script)
        self._of[id(script)] = found
        return found

    def _launching(self, launched: _Function) -> _Function:
        def launching(
            function: _Function, args: Any, returns: Any, deps: Any, manual: bool, waits: bool
        ) -> Any:
            recorder = self._here
            if recorder is None or recorder.current() is not None:
                return launched(function, args, returns, deps, manual, waits)
            ids = [*self._namespace["_flat_ids"](deps)]
            task, run = recorder.submitted(function, args, ids, manual)
            number = self._namespace["_ranks"].world.fibers.current.launched + 1
            recorder.number(task, number)
            return launched(run, args, returns, deps, manual, waits)

        return launching

    def _notifying(self, notify: _Function) -> _Function:
        def notifying(target: Any, peer: int, offsets: Any, value: int, op: str) -> Any:
            recorder = self._here
            if recorder is None:
                return notify(target, peer, offsets, value, op)
            buffer, _, index, name = self._namespace["_signal_cell"]("notify", target, offsets, peer)
            change = f"= {value}" if op == "Set" else f"+= {value}"
            device = _device(buffer, peer)
            with recorder.message("notify", f"{name} of rank {device} {change}", device) as message:
                if message is not None:
                    message.signal = Signal(self._cell(buffer, peer, index), value, op == "Set")
                return notify(target, peer, offsets, value, op)

        return notifying

    def _waiting(self, wait: _Function) -> _Function:
        def waiting(signal: Any, offsets: Any, expected: int, cmp: str) -> Any:
            recorder = self._here
            if recorder is None:
                return wait(signal, offsets, expected, cmp)
            buffer, rank, index, name = self._namespace["_signal_cell"]("wait", signal, offsets)
            text = f"{name} {'==' if cmp == 'Eq' else '>='} {expected}"
            with recorder.message("wait", text) as message:
                wait(signal, offsets, expected, cmp)
                if message is not None:
                    message.signal = Signal(self._cell(buffer, rank, index), expected, cmp == "Eq")

        return waiting

    def _cell(self, buffer: Any, rank: int, index: int) -> tuple[int, int, int]:
        """A signal cell by what all processes call it."""
        return self._namespace["_ranks"].world.buffers.index(buffer), int(rank), int(index)

    def _moving(self, name: str, move: _Function) -> _Function:
        (window, peer), kind = _PLACES[name], name.strip("_").replace("_", " ")

        def moving(*args: Any, **options: Any) -> Any:
            recorder = self._here
            if recorder is None:
                return move(*args, **options)
            buffer, _ = self._namespace["_ranks"].located(args[window], kind)
            device = _device(buffer, args[peer])
            with recorder.message(kind, f"{buffer.name} of rank {device}", device):
                return move(*args, **options)

        return moving


def _device(buffer: Any, peer: int) -> int:
    """A rank of the domain of a buffer, as the world counts it."""
    devices = buffer.domain.devices
    return int(devices[peer]) if 0 <= peer < len(devices) else peer


def _scope_of(plan: TaskPlan, function: _Function) -> ScopeLines | None:
    """The scope that a local function of the script is: its lines begin below the function's first."""
    code = getattr(function, "__code__", None)
    if code is None or function.__name__ in plan.kernels or "<locals>" not in function.__qualname__:
        return None
    inside = [
        scope
        for scope in plan.scopes
        if code.co_firstlineno < scope.first
        and scope.last <= max(line for *_, line in code.co_lines() if line)
    ]
    return min(inside, key=lambda scope: scope.first, default=None)


def _directed(one: Given, args: Sequence[Any]) -> Given:
    """An argument with the direction in which the script has marked it."""
    for arg in args:
        if arg is not one.value and getattr(arg, "value", None) is one.value:
            return replace(one, direction="InOut" if arg.reads else "Out")
    return replace(one, direction="In") if isinstance(one.value, torch.Tensor) else one


def _told(one: Given) -> Given:
    """An argument as records can hold it."""
    domain = getattr(one.value, "domain", None)
    return one if domain is None else replace(one, value=f"rank {one.value.rank} of {len(domain)}")
