"""Which cores a process works on."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def usable_cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def restrict_to(cores: list[int]) -> None:
    """Keep this process to some cores, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Keep what the main thread starts on the core that it is on; without effect in other threads.

    The lanes of a mixed kernel are threads that hand over all the time, and of which only one runs at once:
    between two cores a handover costs ten times as much as on one.
    """
    import torch

    cores = usable_cores()
    if len(cores) == 1 or threading.current_thread() is not threading.main_thread():
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a thread that torch starts for its pool now would stay on this core
    restrict_to([_current_core(cores)])
    try:
        yield
    finally:
        restrict_to(cores)
        torch.set_num_threads(threads)


def _current_core(cores: list[int]) -> int:
    try:
        core = int(ctypes.CDLL(None).sched_getcpu())
    except (AttributeError, OSError, TypeError):
        return cores[0]
    return core if core in cores else cores[0]
