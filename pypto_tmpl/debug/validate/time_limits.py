"""Giving up tasks that take too long, on any executor."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from typing import Any

from pypto_tmpl.debug.validate.workers import WorkerPool

_LOOKS = 20  # times that tasks are looked at in the time that they have
_TELLING = (WorkerPool, ThreadPoolExecutor, ProcessPoolExecutor)


class TimeLimits:
    """Waits for tasks that may take ``seconds`` each, counted from their start.

    A worker pool ends the process of a task whose time is over; other executors go on with it, but its
    result is no longer waited for. Executors of other libraries do not tell when a task starts: there the
    clock starts when all stages before it are done.
    """

    def __init__(self, executor: Executor, seconds: float) -> None:
        self._executor = executor
        self._seconds = seconds
        self._began: dict[Future[Any], float] = {}

    def wait(
        self, pending: Mapping[Future[Any], int], front: int
    ) -> tuple[set[Future[Any]], set[Future[Any]]]:
        """The tasks that are done, or else those whose time is over; ``pending`` has the stage of each."""
        while True:
            done = wait(pending, self._seconds / _LOOKS, FIRST_COMPLETED).done
            now = time.monotonic()
            for future, index in pending.items():
                if future.running() or (index == front and not isinstance(self._executor, _TELLING)):
                    self._began.setdefault(future, now)
            late = {f for f in pending if f not in done and now - self._began.get(f, now) > self._seconds}
            for future in late:
                self._end(future)
            for future in done | late:
                self._began.pop(future, None)
            if done or late:
                return done, late

    def _end(self, future: Future[Any]) -> None:
        if isinstance(self._executor, WorkerPool):
            self._executor.end_task(future)
        else:
            future.cancel()
