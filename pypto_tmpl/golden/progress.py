"""A live line on a terminal while a kernel is compiled or runs; the ``[RUN]`` lines stand without it."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TextIO

from pypto_tmpl.compile.progress import PassProgress
from pypto_tmpl.generated import ForeignFileError, json_in, write_generated

FIRST_AFTER, EVERY = 1.0, 0.5  # seconds
_CLEAR = "\r\x1b[K"


class TaskCounter:
    """Counts tasks from any thread; calling it counts one."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.done = 0

    def __call__(self) -> None:
        self.done = next(self._numbers)


def progress_text(seconds: float, done: int, total: int | None) -> str:
    """``12 s, 340 of 1200 tasks, about 31 s left``; a total that was passed is none."""
    text = f"{seconds:.0f} s"
    if not done:
        return text
    if total is None or total < done:
        return f"{text}, {done} tasks"
    left = seconds / done * (total - done)
    return f"{text}, {done} of {total} tasks, about {left:.0f} s left"


@contextmanager
def live_line(
    stage: str,
    known: Path,
    stream: TextIO | None = None,
    first_after: float = FIRST_AFTER,
    expected: Callable[[], int | None] = lambda: None,
) -> Iterator[Callable[[], None] | None]:
    """Show the progress of a stage while the block runs; gives what is to be called for every task.

    How many tasks there will be is what the file ``known`` has kept of an earlier run, else what is
    ``expected``. Where the stream (stderr) is no terminal nothing is shown and None is given: counting costs
    time.
    """
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        yield None
        return
    counter = TaskCounter()
    total = _read_total(known) or expected()
    with _shown(stage, lambda seconds: progress_text(seconds, counter.done, total), out, first_after):
        yield counter
        with suppress(ForeignFileError):  # a user's file there is worth more than a forecast
            write_generated(known, json.dumps({"tasks": counter.done}) + "\n", _is_total, make_folders=True)


@contextmanager
def live_passes(
    stage: str, stream: TextIO | None = None, first_after: float = FIRST_AFTER
) -> Iterator[PassProgress]:
    """Show on a terminal (stderr) which pass is running while the block runs; gives what is to watch them."""
    out = sys.stderr if stream is None else stream
    progress = PassProgress()
    if not out.isatty():
        yield progress
        return
    with _shown(stage, progress.text, out, first_after):
        yield progress


@contextmanager
def _shown(stage: str, text: Callable[[float], str], out: TextIO, first_after: float) -> Iterator[None]:
    """Show a text, which is told the seconds, while the block runs; the line is cleared in the end."""
    stopped, began = threading.Event(), time.perf_counter()

    def show() -> None:
        pause = first_after
        while not stopped.wait(pause):
            out.write(f"{_CLEAR}{stage}: {text(time.perf_counter() - began)}")
            out.flush()
            pause = EVERY

    thread = threading.Thread(target=show, name="pypto_tmpl progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        out.write(_CLEAR)
        out.flush()


def _is_total(data: bytes) -> bool:
    found = json_in(data)
    return isinstance(found, dict) and found.keys() == {"tasks"}


def _read_total(known: Path) -> int | None:
    try:
        tasks = json.loads(known.read_text(encoding="utf-8"))["tasks"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return tasks if isinstance(tasks, int) else None
