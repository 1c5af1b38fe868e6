"""Sub-workers of programs that are loaded, and the functions that who runs these has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pypto_tmpl.runtime.prepared import PreparedBuild


def bind_sub_workers(
    programs: Sequence[PreparedBuild],
    callbacks: Mapping[str, Callable[[Any], object]],
    overrides: Mapping[str, Callable[..., object]],
) -> None:
    """Give the sub-workers of programs the functions that stand for them.

    Raises ValueError for callbacks that are missing and for names of no sub-worker, TypeError for what is no
    function, ManifestError for a list of callbacks in a build that is none.
    """
    workers = [worker for one in programs for worker in one.sub_workers.items()]
    bound = {name for name, is_given in workers if is_given}
    missing = sorted(bound - callbacks.keys() - overrides.keys())
    if missing:
        what = f"SubWorkers {missing} are runtime-bound callbacks (declared with a `...` body)"
        raise ValueError(f"{what} and must be supplied via callbacks={{...}}.")
    names = {name for name, _ in workers}
    for what, given, known in (("callbacks", callbacks, bound), ("sub_worker_overrides", overrides, names)):
        unknown = sorted(given.keys() - known)
        if unknown:
            has = ", ".join(sorted(known)) or "none"
            raise ValueError(f"{what} names {unknown} are not sub-workers of this program. It has {has}.")
        for name, function in given.items():
            if not callable(function):
                raise TypeError(f"{what}[{name!r}] must be a function, got {type(function).__name__}")
    for one in programs:
        one.bind_workers(callbacks, overrides)
