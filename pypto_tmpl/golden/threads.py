"""How many threads torch has while the harness computes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from pypto_tmpl.execution.threads import torch_threads

VARIABLE = "PYPTO_GOLDEN_NUM_THREADS"
DEFAULT_LIMIT = 16  # goldens are many small operations: more threads than this only cost


@contextmanager
def golden_threads() -> Iterator[None]:
    """Give torch the number of threads that PYPTO_GOLDEN_NUM_THREADS says, and the former number after.

    Unset, at most 16 of those there are. Raises ValueError for anything but a positive integer.
    """
    with torch_threads(_wanted(torch.get_num_threads())):
        yield


def _wanted(before: int) -> int:
    raw = os.environ.get(VARIABLE)
    if raw is None:
        return min(before, DEFAULT_LIMIT)
    try:
        number = int(raw)
    except ValueError:
        number = 0
    if number <= 0:
        raise ValueError(f"{VARIABLE} must be a positive integer, got {raw!r}")
    return number
