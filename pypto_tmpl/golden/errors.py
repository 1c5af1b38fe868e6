"""Errors of the harness, and the result that an error becomes."""

from __future__ import annotations

import os
import sysconfig
import traceback
from pathlib import Path

import pypto_tmpl
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import ForeignFileError
from pypto_tmpl.golden.result import RunResult

_PACKAGES = (
    f"{Path(pypto_tmpl.__file__).parent}{os.sep}",
    *(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)


class HarnessError(PyptoTmplError, ValueError):
    """The harness cannot do what it was asked to; the text is the whole of ``RunResult.error``."""

    slug = "harness"

    def __str__(self) -> str:
        return self.without_slug()


class ValidationError(AssertionError):
    """Outputs differ from their goldens; the text has a block for each of them."""


def failed_result(
    error: Exception, phase: str, seconds: float | None = None, work_dir: Path | None = None
) -> RunResult:
    """The result of a run that an error ended in a phase."""
    kind = type(error).__name__
    is_blocked = isinstance(error, ForeignFileError)
    text = error.without_slug() if isinstance(error, PyptoTmplError) and not is_blocked else str(error)
    text = "\n".join([text, *getattr(error, "__notes__", ())])
    if not isinstance(error, PyptoTmplError | ValidationError) and (place := place_in_script(error)):
        is_known = place.partition(",")[0] in text
        text += "" if is_known else f"\n  at {place}"
    is_told = isinstance(error, HarnessError | ValidationError)
    return RunResult(
        False,
        error=text if is_told else f"{phase}: {text}" if is_blocked else f"{phase}: {kind}: {text}",
        execution_time=seconds,
        work_dir=work_dir,
        phase=phase,
        error_type=kind,
        traceback="".join(traceback.format_exception(error)),
        is_blocked=is_blocked,
    )


def place_in_script(error: BaseException) -> str:
    """File and line of the user's code that raised it, or "" where only packages and this project did."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(("<", *_PACKAGES)):
            return f"{frame.filename}:{frame.lineno}, in {frame.name}"
    return ""
