"""Times of the stages of a compilation under PyPTO's path ``pypto.compile_profiling``."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pypto_tmpl.compile.profile import Profiler
from pypto_tmpl.files import write_text


class CompileProfiler(Profiler):
    """Stages that a script times itself: ``with CompileProfiler() as p: with p.stage("read"): ...``.

    Those of compilations inside come along; these write no report of their own then.
    """

    def add_stage_record(self, name: str, seconds: float) -> None:
        """Add a stage that was timed elsewhere to the one that is open."""
        self.record(name, seconds)

    def to_json(self, path: str | os.PathLike[str] | None = None, indent: int = 2) -> str:
        """``to_dict`` as text, which is written to a file too where a path is given."""
        text = json.dumps(self.to_dict(), indent=indent)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def write_report(self, output_dir: str | os.PathLike[str]) -> tuple[str, str]:
        """Write both forms into a folder; their names."""
        return self.write(Path(output_dir))
