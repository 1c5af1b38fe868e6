"""Times of the stages of a compilation, as ``report/pipeline_profile.json`` and ``.txt``."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from pypto_tmpl import ir
from pypto_tmpl.files import write_text
from pypto_tmpl.generated import has_no_mark, write_generated
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.instruments import PassInstrument

TITLE = "Compile pipeline time"
STEM = "pipeline_profile"
VARIABLE = "PYPTO_COMPILE_PROFILING"


@dataclass(slots=True)
class Stage:
    """A stage, its seconds and the stages within it."""

    name: str
    seconds: float = 0.0
    children: list[Stage] = field(default_factory=list)

    def as_data(self) -> dict[str, Any]:
        """The stage in the form of the JSON file."""
        children = [child.as_data() for child in self.children]
        return {"name": self.name, "seconds": round(self.seconds, 6), "children": children}

    def rows(self, depth: int = 0) -> Iterator[tuple[int, Stage]]:
        """The stage and those within it, with their depths."""
        yield depth, self
        for child in self.children:
            yield from child.rows(depth + 1)


class CompileProfiler:
    """Records nested stages; one that is entered gets those of the compilations inside of it.

    ``with CompileProfiler() as p: with p.stage("read"): ...`` times stages of a script. Compilations inside
    write no report of their own then. With PYPTO_COMPILE_PROFILING there is one for the whole process, which
    has its table printed to stderr at the end.
    """

    _local: ClassVar[threading.local] = threading.local()
    _of_process: ClassVar[CompileProfiler | None] = None

    @classmethod
    def current(cls) -> CompileProfiler | None:
        """The profiler of this thread that was entered last, else that of the process, if there is one."""
        entered: list[CompileProfiler] = getattr(cls._local, "entered", [])
        if entered:
            return entered[-1]
        if CompileProfiler._of_process is None and _is_asked_for():
            CompileProfiler._of_process = CompileProfiler()
            atexit.register(CompileProfiler._of_process._print)
        return CompileProfiler._of_process if _is_asked_for() else None

    def __enter__(self) -> Self:
        self._local.entered = [*getattr(self._local, "entered", []), self]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._local.entered = self._local.entered[:-1]

    def __init__(self) -> None:
        self._root = Stage("")
        self._threads = threading.local()

    @property
    def _open(self) -> list[Stage]:
        """The stages that this thread is in, the innermost last."""
        found: list[Stage] | None = getattr(self._threads, "open", None)
        if found is None:
            found = self._threads.open = [self._root]
        return found

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, an exception included."""
        stage = Stage(name)
        self._open[-1].children.append(stage)
        self._open.append(stage)
        began = time.perf_counter()
        try:
            yield
        finally:
            stage.seconds = time.perf_counter() - began
            self._open.pop()

    def add_stage_record(self, name: str, seconds: float) -> None:
        """Add a stage that was timed elsewhere to the one that is open."""
        self._open[-1].children.append(Stage(name, seconds))

    def write_report(self, output_dir: str | os.PathLike[str]) -> tuple[str, str]:
        """Write both forms into a folder; their names. Raises ForeignFileError, FileError."""
        folder = Path(output_dir)
        write_generated(folder / f"{STEM}.json", self.to_json() + "\n", has_no_mark)
        write_generated(folder / f"{STEM}.txt", self.summary(), has_no_mark)
        return f"{STEM}.json", f"{STEM}.txt"

    def to_dict(self) -> dict[str, Any]:
        """The stages as plain data."""
        return {
            "total_seconds": round(self._total(), 6),
            "stages": [stage.as_data() for stage in self._root.children],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None, indent: int = 2) -> str:
        """``to_dict`` as text, which is written to a file too where a path is given."""
        text = json.dumps(self.to_dict(), indent=indent)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def summary(self) -> str:
        """The stages as a table."""
        stages, total = self._root.children, self._total()
        lines = [TITLE, "=" * 22, f"Total: {_time_text(total)}", ""]
        for depth, stage in (row for root in stages for row in root.rows()):
            name = f"{'  ' * depth}{stage.name:<28}"
            share = 100 * stage.seconds / total if total else 0.0
            lines.append(f"{name}{_time_text(stage.seconds):>10}  ({share:5.1f}%)")
        return "\n".join(lines) + "\n"

    def _print(self) -> None:
        if self._root.children:
            print(self.summary(), end="", file=sys.stderr)

    def _total(self) -> float:
        return sum(stage.seconds for stage in self._root.children)


class PassTimes(PassInstrument):
    """Tells a profiler how long each pass took."""

    def __init__(self, profiler: CompileProfiler) -> None:
        self._profiler = profiler
        self._began = 0.0

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._began = time.perf_counter()

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._profiler.add_stage_record(pass_.get_name(), time.perf_counter() - self._began)


def _is_asked_for() -> bool:
    return os.environ.get(VARIABLE, "").strip().lower() in ("1", "true", "yes")


def _time_text(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f}us"
    return f"{seconds * 1e3:.1f}ms" if seconds < 1 else f"{seconds:.3f}s"
