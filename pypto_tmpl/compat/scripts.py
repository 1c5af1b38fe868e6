"""Running a script that was written for PyPTO, unmodified."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pypto_tmpl.compat.imports import answering


def run_script(path: str | os.PathLike[str], args: Sequence[str] = ()) -> int:
    """Run a script as ``python path args`` does, its imports of PyPTO answered; return its exit status.

    Exceptions other than SystemExit propagate.
    """
    with answering(), _command_line(os.fspath(path), args):
        try:
            runpy.run_path(os.fspath(path), run_name="__main__")
        except SystemExit as stop:
            return _status(stop)
    return 0


def _status(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print(stop.code, file=sys.stderr)
    return 1


@contextmanager
def _command_line(path: str, args: Sequence[str]) -> Iterator[None]:
    """The script's arguments, and its folder as the first place of imports."""
    argv, places = sys.argv, list(sys.path)
    sys.argv = [path, *args]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        yield
    finally:
        sys.argv = argv
        sys.path[:] = places
