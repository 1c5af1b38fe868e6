"""Worker processes: an executor whose processes die alone and never import the user's script.

``concurrent.futures.ProcessPoolExecutor`` imports ``__main__`` in each process, so that a plain script
without a main guard would run itself again, and gives up all tasks when one process dies.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.cores import restrict_to, usable_cores

INLINE_SECONDS = 1.0  # about what starting the workers costs
_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class WorkerDiedError(PyptoTmplError, RuntimeError):
    """The process that computed a task ended without an answer."""

    slug = "worker"


class WorkerPool(Executor):
    """``jobs`` processes, each with its share of the cores; functions and arguments are pickled.

    The processes start at once; ``wait_until_ready`` waits for that. One that dies is replaced, and its
    task ends in a WorkerDiedError. Raises ValueError for less than one job.
    """

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise ValueError(f"jobs must be 1 or more, got {jobs}")
        self.jobs = jobs
        self._tasks: queue.SimpleQueue[tuple[Future[Any], _Call] | None] = queue.SimpleQueue()
        self._closed = False
        self._workers = [_Worker(share) for share in _shares(usable_cores(), jobs)]
        serve = self._serve
        self._threads = [threading.Thread(target=serve, args=(w,), daemon=True) for w in self._workers]
        for thread in self._threads:
            thread.start()

    def wait_until_ready(self) -> None:
        """Return when every process has imported what it needs."""
        for worker in self._workers:
            worker.ready.wait()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have ``fn`` called in a worker. Raises RuntimeError after a shutdown."""
        if self._closed:
            raise RuntimeError("the worker pool is shut down")
        future: Future[Any] = Future()
        self._tasks.put((future, (fn, args, kwargs)))
        return future

    def end_task(self, future: Future[Any]) -> None:
        """End a task, and the process that is at work on it; another one takes its place."""
        if future.cancel():
            return
        for worker in self._workers:
            worker.end(future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks and end the processes; with ``cancel_futures`` also those at work."""
        self._closed = True
        if cancel_futures:
            with suppress(queue.Empty):
                while True:
                    if (task := self._tasks.get_nowait()) is not None:
                        task[0].cancel()
            for worker in self._workers:
                worker.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self, worker: _Worker) -> None:
        """Give one worker task after task until the pool is closed."""
        with suppress(WorkerDiedError):
            worker.start()
        while (task := self._tasks.get()) is not None:
            future, call = task
            with suppress(WorkerDiedError):
                worker.start_if_dead()  # before the task counts as running
            if not future.set_running_or_notify_cancel():
                continue
            try:
                succeeded, value = worker.call(call, future)
            except BaseException as error:
                succeeded, value = False, error
            if succeeded:
                future.set_result(value)
            else:
                future.set_exception(value)
        worker.kill()


class _Worker:
    """One process with the pipes to it; one thread calls it, any thread may kill it."""

    def __init__(self, cores: list[int]) -> None:
        self.cores = cores
        self.ready = threading.Event()
        self._killed = False
        self._task: Future[Any] | None = None
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process and wait for its sign that it can work."""
        program = f"import sys; sys.path[:] = {sys.path!r}\nimport {__name__} as w; w.serve({self.cores})"
        with self._lock:
            if self._killed:
                raise WorkerDiedError("the worker pool is shut down")
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the parent, which then ends its workers
            )
        try:
            self._exchange(b"")
        finally:
            self.ready.set()

    def start_if_dead(self) -> None:
        """Start the process again if it has ended."""
        if self._process is None or self._process.poll() is not None:
            self.start()

    def call(self, call: _Call, task: Future[Any]) -> tuple[bool, Any]:
        """The answer of the worker: whether the call succeeded, and its value or exception."""
        data = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self._task = task
        try:
            answer: tuple[bool, Any] = self._exchange(data)
        finally:
            with self._lock:
                self._task = None
        return answer

    def end(self, task: Future[Any]) -> None:
        """End the process if it is at work on this task."""
        with self._lock:
            if self._task is task and self._process is not None:
                self._process.kill()

    def _exchange(self, data: bytes) -> Any:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(data)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            process.kill()
            code = process.wait()
            raise WorkerDiedError(f"the worker process ended with exit code {code}") from None

    def kill(self) -> None:
        """End the process, at work or not; it is not started again."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()


def _shares(cores: list[int], jobs: int) -> list[list[int]]:
    """The cores of each worker: disjoint, unless there are more workers than cores."""
    return [cores[job::jobs] or [cores[job % len(cores)]] for job in range(jobs)]


def serve(cores: list[int]) -> None:
    """What a worker process does: answer calls from standard input until it closes."""
    restrict_to(cores)  # first: threads that torch starts take this over
    import gc

    import torch

    from pypto_tmpl.debug.validate.tasks import prepare_worker

    # A script that prints must not end up among the answers.
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    torch.set_num_threads(len(cores))
    torch.set_num_interop_threads(1)
    prepare_worker()
    gc.freeze()
    try:
        _answer(answers, True, None)
        while True:
            function, args, kwargs = pickle.load(calls)
            try:
                value, succeeded = function(*args, **kwargs), True
            except Exception as error:
                value, succeeded = error, False
            _answer(answers, succeeded, value)
    except (EOFError, OSError):
        os._exit(0)  # a normal exit would wait for threads that a script left behind


def _answer(answers: Any, succeeded: bool, value: Any) -> None:
    try:
        data = pickle.dumps((succeeded, value), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        data = pickle.dumps((False, RuntimeError(f"no answer can be sent: {type(error).__name__}: {error}")))
    answers.write(data)
    answers.flush()


class PatientPool(Executor):
    """Computes in this process for a second, and starts workers only if there is more to do then.

    Most dumps are done before workers would be up.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._seconds = 0.0
        self._pool: WorkerPool | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call ``fn`` at once, or in a worker."""
        if self.jobs > 1 and self._seconds > INLINE_SECONDS:
            self._pool = self._pool or WorkerPool(self.jobs)
            return self._pool.submit(fn, *args, **kwargs)
        began = time.perf_counter()
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        self._seconds += time.perf_counter() - began
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers, if there are any."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)
