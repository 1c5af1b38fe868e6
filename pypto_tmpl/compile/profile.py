"""Times of the stages of a compilation, as ``report/pipeline_profile.json`` and ``.txt``."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from pypto_tmpl import ir
from pypto_tmpl.generated import has_no_mark, write_generated
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.instruments import PassInstrument

TITLE = "Compile pipeline time"
STEM = "pipeline_profile"


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


class Profiler:
    """Records nested stages; one that is entered gets those of the compilations inside of it."""

    _local: ClassVar[threading.local] = threading.local()

    @classmethod
    def current(cls) -> Profiler | None:
        """The profiler of this thread that was entered last."""
        entered: list[Profiler] = getattr(cls._local, "entered", [])
        return entered[-1] if entered else None

    def __enter__(self) -> Self:
        self._local.entered = [*getattr(self._local, "entered", []), self]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._local.entered = self._local.entered[:-1]

    def __init__(self) -> None:
        self._root = Stage("")
        self._open = [self._root]

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

    def record(self, name: str, seconds: float) -> None:
        """Add a stage that was timed elsewhere to the one that is open."""
        self._open[-1].children.append(Stage(name, seconds))

    def write(self, folder: Path) -> tuple[str, str]:
        """Write both files into a folder; return their names."""
        write_generated(folder / f"{STEM}.json", json.dumps(self.to_dict(), indent=2) + "\n", has_no_mark)
        write_generated(folder / f"{STEM}.txt", self.summary(), has_no_mark)
        return f"{STEM}.json", f"{STEM}.txt"

    def to_dict(self) -> dict[str, Any]:
        """The stages as plain data."""
        return {
            "total_seconds": round(self._total(), 6),
            "stages": [stage.as_data() for stage in self._root.children],
        }

    def summary(self) -> str:
        """The stages as a table."""
        stages, total = self._root.children, self._total()
        lines = [TITLE, "=" * 22, f"Total: {_time_text(total)}", ""]
        for depth, stage in (row for root in stages for row in root.rows()):
            name = f"{'  ' * depth}{stage.name:<28}"
            share = 100 * stage.seconds / total if total else 0.0
            lines.append(f"{name}{_time_text(stage.seconds):>10}  ({share:5.1f}%)")
        return "\n".join(lines) + "\n"

    def _total(self) -> float:
        return sum(stage.seconds for stage in self._root.children)


class PassTimes(PassInstrument):
    """Tells a profiler how long each pass took."""

    def __init__(self, profiler: Profiler) -> None:
        self._profiler = profiler
        self._began = 0.0

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._began = time.perf_counter()

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._profiler.record(pass_.get_name(), time.perf_counter() - self._began)


def _time_text(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f}us"
    return f"{seconds * 1e3:.1f}ms" if seconds < 1 else f"{seconds:.3f}s"
