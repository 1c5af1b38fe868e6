"""What a traceback shows of an error in a kernel: the user's file, not how its text was read."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from pypto_tmpl.language.diagnostics import ParserError

Result = TypeVar("Result")


def without_frames(read: Callable[[], Result]) -> Result:
    """The result of ``read``; its ParserError has no frames of the reader, unless PTO_BACKTRACE=1."""
    try:
        return read()
    except ParserError as error:
        if os.environ.get("PTO_BACKTRACE") == "1":
            raise
        found = error.with_traceback(None)
    raise found from None
