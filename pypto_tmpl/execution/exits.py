"""``os._exit`` by what a host program runs: it would end the process without a word, and with any status."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn
from weakref import WeakSet


class _Known:
    """The calls of host programs in this process, and the ``os._exit`` that there was before."""

    worlds: WeakSet[Any] = WeakSet()
    process: int | None = None
    exit: Callable[[int], NoReturn] = os._exit


def tell_exits(world: Any) -> None:
    """Let ``os._exit`` tell who has called it where that is a fiber of a call; its status is then not 0.

    Processes that a fiber has forked may leave as they like.
    """
    _Known.worlds.add(world)
    if _Known.process is None:
        _Known.exit, os._exit = os._exit, _exit_told
    _Known.process = os.getpid()


def _exit_told(status: int) -> NoReturn:
    title = _leaving() if os.getpid() == _Known.process else None
    if title is not None:
        print(end="", flush=True)
        print(f"{title} has ended the process by os._exit({status})", file=sys.stderr, flush=True)
        status = status or 1
    _Known.exit(status)


def _leaving() -> str | None:
    """The title of the fiber that the calling thread is, None if it is none."""
    thread = threading.current_thread()
    is_fiber = any(thread in world.fibers.started for world in _Known.worlds)
    return thread.name if is_fiber else None
