"""Running a script that was written for PyPTO, unmodified."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pypto_tmpl.compat.imports import answering
from pypto_tmpl.errors import PyptoTmplError


def run_script(path: str | os.PathLike[str], args: Sequence[str] = ()) -> int:
    """Run a script as ``python path args`` does, its imports of PyPTO answered; return its exit status.

    Exceptions other than SystemExit propagate.
    """
    return script_result(path, args)[0]


def script_result(
    path: str | os.PathLike[str], args: Sequence[str] = (), *, run_name: str = "__main__"
) -> tuple[int, dict[str, Any]]:
    """What ``run_script`` returns, and the names that the script left, if it ended by itself.

    ``run_name`` is what the script knows as ``__name__``.
    """
    with answering(), command_line(os.fspath(path), args):
        try:
            return 0, runpy.run_path(os.fspath(path), run_name=run_name)
        except SystemExit as stop:
            return _status(stop), {}


def describe_failure(error: BaseException, path: str | os.PathLike[str]) -> str:
    """What a user is told of an exception of a script: an error of the project as it is, else a traceback.

    The traceback begins in the script.
    """
    if isinstance(error, PyptoTmplError):
        return str(error)
    origin = error.__traceback__
    while origin is not None and origin.tb_frame.f_code.co_filename != os.fspath(path):
        origin = origin.tb_next
    if origin is None and isinstance(error, SyntaxError):  # nothing of the script was run
        return "".join(traceback.format_exception_only(error)).rstrip()
    found = traceback.TracebackException(type(error), error, origin or error.__traceback__)
    return "".join(found.format()).rstrip()


def _status(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print(stop.code, file=sys.stderr)
    return 1


@contextmanager
def command_line(path: str, args: Sequence[str]) -> Iterator[None]:
    """The script's arguments, and its folder as the first place of imports."""
    argv, places = sys.argv, list(sys.path)
    sys.argv = [path, *args]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        yield
    finally:
        sys.argv = argv
        sys.path[:] = places
