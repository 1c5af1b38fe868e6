"""What a traceback shows of an error in a kernel: the user's file, not how its text was read."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pypto_tmpl.language.diagnostics import ParserError

Result = TypeVar("Result")
_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


def without_frames(read: Callable[[], Result]) -> Result:
    """The result of ``read``; its ParserError has no frames of the reader, unless PTO_BACKTRACE=1."""
    try:
        return read()
    except ParserError as error:
        if _shows_all():
            raise
        found = error.with_traceback(None)
    raise found from None


def show_errors_of_kernels() -> None:
    """Show errors of kernels that nothing catches with the frames of the user's files only, from now on.

    The hook that stands before this one shows all other errors.
    """
    previous = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, ParserError) or _shows_all():
            previous(kind, error, trace)
            return
        frames = [at for at in traceback.extract_tb(trace) if not at.filename.startswith(_PACKAGE)]
        text = "".join(["Traceback (most recent call last):\n", *traceback.format_list(frames)])
        print(f"{text}{kind.__name__}: {error}", file=sys.stderr)

    sys.excepthook = show


def _shows_all() -> bool:
    return os.environ.get("PTO_BACKTRACE") == "1"
