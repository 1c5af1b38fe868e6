"""What a run came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class RunResult:
    """Outcome of ``run`` or ``run_jit``; ``str()`` is ``PASS (1.23s)`` or ``FAIL: <error> (1.23s)``.

    A failure names the ``phase`` it happened in and the type of the exception, and keeps its
    ``traceback`` as text. ``execution_time`` is in seconds, of the whole call. ``is_blocked`` says that
    it failed for a file of somebody else in a place that it would have written.
    """

    passed: bool
    error: str | None = None
    execution_time: float | None = None
    work_dir: Path | None = None
    bench: Any = None
    phase: str | None = None
    error_type: str | None = None
    traceback: str | None = field(default=None, repr=False)
    is_blocked: bool = False

    def __str__(self) -> str:
        text = "PASS" if self.passed else "FAIL"
        if not self.passed and self.error:
            text += f": {self.error}"
        return text if self.execution_time is None else f"{text} ({self.execution_time:.2f}s)"
