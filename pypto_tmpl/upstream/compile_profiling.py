"""Times of the stages of a compilation under PyPTO's path ``pypto.compile_profiling``."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import ClassVar

from pypto_tmpl.compile.profile import Profiler, Stage
from pypto_tmpl.files import write_text


class CompileProfiler(Profiler):
    """Stages that a script times itself: ``with CompileProfiler() as p: with p.stage("read"): ...``."""

    _local: ClassVar[threading.local] = threading.local()

    @classmethod
    def current(cls) -> CompileProfiler | None:
        """The profiler of this thread that was entered last."""
        entered: list[CompileProfiler] = getattr(cls._local, "entered", [])
        return entered[-1] if entered else None

    def __enter__(self) -> CompileProfiler:
        self._local.entered = [*getattr(self._local, "entered", []), self]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._local.entered = self._local.entered[:-1]

    def add_stage_record(self, name: str, seconds: float) -> None:
        """Add a stage that was timed elsewhere to the one that is open."""
        self._open[-1].children.append(Stage(name, seconds))

    def to_json(self, path: str | os.PathLike[str] | None = None, indent: int = 2) -> str:
        """``to_dict`` as text, which is written to a file too where a path is given."""
        text = json.dumps(self.to_dict(), indent=indent)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def write_report(self, output_dir: str | os.PathLike[str]) -> tuple[str, str]:
        """Write both forms into a folder; their names."""
        return self.write(Path(output_dir))
