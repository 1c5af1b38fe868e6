"""How many threads torch has while a script runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import torch

from pypto_tmpl.execution.cores import on_one_core

LANES = "_run_lanes"  # the helper that starts the threads of a mixed kernel


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Give torch this number of threads, and the former number after."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def script_threads(namespace: dict[str, Any], large: Iterable[str]) -> Iterator[None]:
    """Give torch one thread while a script runs, except in its functions whose ops are large.

    Those, ``large`` by their names in the script, have the caller's number, which is restored after. The
    lanes of a mixed kernel are threads that hand over all the time: they are kept on one core, unless there
    are large ops.
    """
    many = torch.get_num_threads()
    own = {name: namespace[name] for name in large if callable(namespace.get(name))}
    namespace.update({name: _on_threads(function, many) for name, function in own.items()})
    try:
        with on_one_core() if LANES in namespace and not own else torch_threads(1):
            yield
    finally:
        namespace.update(own)


def _on_threads(function: Callable[..., Any], number: int) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any) -> Any:
        with torch_threads(number):
            return function(*args)

    return run
