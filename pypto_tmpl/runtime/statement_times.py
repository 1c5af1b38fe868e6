"""How long each line of a kernel's script takes while a build runs: the simulation's time, not a device's."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

_ENDED = 0  # in the place of a line: the call returned


@dataclass(slots=True)
class KernelCall:
    """One call of a kernel on one thread, with when each line began. Nanoseconds."""

    kernel: str
    thread: int
    marks: list[tuple[int, int]] = field(default_factory=list)

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Take note of a line that begins, or of the end; what the interpreter calls for each event."""
        if event == "line":
            self.marks.append((frame.f_lineno, time.perf_counter_ns()))
        elif event == "return":
            self.marks.append((_ENDED, time.perf_counter_ns()))
        return self.step

    def bars(self) -> Iterator[tuple[int, int, int]]:
        """The lines that ran, in order, each with its begin and its end."""
        for (line, began), (_, ended) in zip(self.marks, self.marks[1:], strict=False):
            if line != _ENDED:
                yield line, began, ended


class StatementTimer:
    """Notes the lines of kernels that run while it watches; ``kernels`` are by their names in the script."""

    def __init__(self, script: str, kernels: Mapping[str, str]) -> None:
        self.calls: list[KernelCall] = []
        self._script = script
        self._kernels = kernels

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread and those that are begun inside."""
        before, before_threads = sys.gettrace(), threading.gettrace()
        sys.settrace(self._called)
        threading.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before_threads)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        kernel = self._kernels.get(code.co_name) if code.co_filename == self._script else None
        if kernel is None:
            return None
        self.calls.append(KernelCall(kernel, threading.get_ident()))
        return self.calls[-1].step
