"""The ``[RUN]`` lines: the authoritative trace of what ran."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Console:
    """Prints the lines and knows which stage is running; ``phase`` stays at the stage that failed."""

    def __init__(self, phase: str = "arguments") -> None:
        self.phase = phase

    def line(self, text: str) -> None:
        """Print one line."""
        print(f"[RUN] {text}", flush=True)

    def detail(self, text: str) -> None:
        """Print one line that belongs to the stage that is running."""
        self.line(f"  {text}")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Print the begin and the end of a stage, the end also when it raises."""
        self.phase = name
        self.line(f"{name} ...")
        began = time.perf_counter()
        try:
            yield
        finally:
            self.line(f"{name} done ({time.perf_counter() - began:.2f}s)")
