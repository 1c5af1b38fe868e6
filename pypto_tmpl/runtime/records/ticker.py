"""Telling of every task that is launched, and nothing else: what a line of progress needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pypto_tmpl.runtime.records.model import Task
from pypto_tmpl.runtime.records.plan import CoreType


class Listener(Protocol):
    """What the marks and the hooks of a script tell; see ``Recorder``."""

    def launch(self, name: str, given: Sequence[Any], block_num: int | None = None) -> Any: ...

    def part(self, name: str, core: CoreType, lane: int | None = None, task: Task | None = None) -> Any: ...

    def current(self) -> Task | None: ...

    def hand_over(self) -> None: ...


class _Here(threading.local):
    task: Task | None = None


class TaskTicker:
    """Calls a function for every task; launches within a task, on whatever thread, are parts of it."""

    def __init__(self, on_task: Callable[[], None]) -> None:
        self._on_task = on_task
        self._here = _Here()

    def ask(self, line: int, deps: Iterable[Any]) -> None:
        """The statement on a line is about to launch something."""

    def settle(self) -> None:
        """That statement is done."""

    def loop(self, number: int) -> None:
        """A parallel loop starts."""

    def iteration(self, number: int) -> None:
        """The next iteration of a parallel loop starts."""

    @contextmanager
    def scope(self, number: int, deps: Iterable[Any]) -> Iterator[None]:
        """The lines of a scope run."""
        with self.launch("", ()):
            yield

    @contextmanager
    def block(self, number: int) -> Iterator[None]:
        """One block of a scope of blocks."""
        yield

    @contextmanager
    def launch(self, name: str, given: Sequence[Any], block_num: int | None = None) -> Iterator[None]:
        """Something of the program is launched."""
        if self._here.task is not None:
            yield
            return
        self._on_task()
        with self._within(Task(0)):
            yield

    @contextmanager
    def part(
        self, name: str, core: CoreType, lane: int | None = None, task: Task | None = None
    ) -> Iterator[None]:
        """A function runs on a core, maybe on another thread than the one that launched its task."""
        with self._within(task or self._here.task):
            yield

    def current(self) -> Task | None:
        """The task that the calling thread is in."""
        return self._here.task

    def hand_over(self) -> None:
        """What runs here goes on on cores of its own."""

    @contextmanager
    def _within(self, task: Task | None) -> Iterator[None]:
        outer, self._here.task = self._here.task, task
        try:
            yield
        finally:
            self._here.task = outer
