"""Which line of a script's own functions an error came from."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

from pypto_tmpl.codegen.record import Script


def failing_line(error: BaseException, filename: str, script: Script) -> traceback.FrameSummary | None:
    """The innermost line of a script's own functions that led to an error, None if none did."""
    for cause in _causes(error):
        for frame in reversed(traceback.extract_tb(cause.__traceback__)):
            function = script.function_at(frame.lineno or 0) if frame.filename == filename else None
            if function is not None and function.name == frame.name:
                return frame
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors that led to an error, the first of them first."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    return reversed(chain)
