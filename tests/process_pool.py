"""Run many tasks in processes that may hang or die without taking the others along.

``concurrent.futures`` has no limit for one task and gives up all of them when a process dies.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

START_SECONDS = 600.0

Task = Callable[[Any], str | None]


def run_all(
    function: Task, tasks: Iterable[Any], jobs: int, seconds: float, on_start: Callable[[], None]
) -> Iterator[str | None]:
    """Yield ``function(task)`` for every task, in their order, computed by ``jobs`` processes.

    For a task that takes longer than ``seconds``, or whose process dies, a text that says so is
    yielded. ``on_start`` is called once in each process; it and ``function`` must be importable.
    """
    idle: SimpleQueue[Worker] = SimpleQueue()
    workers = [Worker(function, on_start) for _ in range(jobs)]
    for worker in workers:
        idle.put(worker)

    def run_one(task: Any) -> str | None:
        worker = idle.get()
        try:
            return worker.run(task, seconds)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(jobs)
    try:
        yield from threads.map(run_one, tasks)
    finally:
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.stop()


class Worker:
    """A process that is started when first used and again after it was lost."""

    def __init__(self, function: Task, on_start: Callable[[], None]) -> None:
        self.serve_arguments = (function, on_start)
        self.process: Any = None
        self.pipe: Any = None

    def start(self) -> None:
        # Not fork: torch's threads do not survive one.
        context = multiprocessing.get_context("spawn")
        self.pipe, child = context.Pipe()
        self.process = context.Process(target=_serve, args=(child, *self.serve_arguments), daemon=True)
        self.process.start()
        child.close()
        self.receive(START_SECONDS)

    def run(self, task: Any, seconds: float) -> str | None:
        try:
            if self.process is None:
                self.start()
            self.pipe.send(task)
            return self.receive(seconds)
        except TimeoutError as error:
            self.stop()
            return str(error)
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            self.stop()
            return f"the process died with exit code {code}"

    def receive(self, seconds: float) -> str | None:
        if not self.pipe.poll(seconds):
            raise TimeoutError(f"no answer in {seconds:g} s")
        return self.pipe.recv()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
            self.process = None


def _serve(pipe: Connection, function: Task, on_start: Callable[[], None]) -> None:
    on_start()
    pipe.send(None)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            # A normal exit would wait for threads that a task left behind.
            os._exit(0)
        pipe.send(function(task))
