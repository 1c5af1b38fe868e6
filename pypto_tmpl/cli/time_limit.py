"""A limit for code of users that may not end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from pypto_tmpl.errors import PyptoTmplError


class TimeLimitError(PyptoTmplError, TimeoutError):
    """The code took longer than it may."""

    slug = "time-limit"


def _place(frame: FrameType | None) -> str:
    """The innermost line that is no library's nor the project's: one of a user's file or emitted script."""
    own = (str(Path(__file__).resolve().parents[1]), sys.prefix, sys.base_prefix, "<frozen")
    while frame is not None:
        if not frame.f_code.co_filename.startswith(own):
            return f", at {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return ""


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raise TimeLimitError in whatever the block does after so many seconds; None is no limit.

    Raises: UsageError where the system has no such clock.
    """
    if seconds is None:
        yield
        return
    if not hasattr(signal, "setitimer"):
        raise click.UsageError("this system has no clock that --time-limit needs")

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"not done after the time limit of {seconds:g} s{_place(frame)}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
