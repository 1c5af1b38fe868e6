"""Errors of the harness, and the result that an error becomes."""

from __future__ import annotations

import traceback
from pathlib import Path

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.golden.result import RunResult


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
    text = error.without_slug() if isinstance(error, PyptoTmplError) else str(error)
    text = "\n".join([text, *getattr(error, "__notes__", ())])
    is_told = isinstance(error, HarnessError | ValidationError)
    return RunResult(
        False,
        error=text if is_told else f"{phase}: {kind}: {text}",
        execution_time=seconds,
        work_dir=work_dir,
        phase=phase,
        error_type=kind,
        traceback="".join(traceback.format_exception(error)),
    )

