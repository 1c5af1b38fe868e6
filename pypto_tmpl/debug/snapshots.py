"""Golden scripts: one committed script per program and stage, compared byte for byte.

A case is ``<program>/<stage>``. Its input is the stage's ``.msgpack`` dump under
``<dumps>/<program>/Ascend910B/``, its script ``<golden>/<program>/<stage>.py``. The case
``examples/<name>`` is the JIT function ``KERNEL`` of ``<examples>/<name>.py``, specialised for its
annotations.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug.modules import load_module
from pypto_tmpl.debug.torch_codegen import torch_codegen
from pypto_tmpl.files import write_text

BACKEND = "Ascend910B"
FRONTEND = "00_frontend"
LAST = "last"
EXAMPLES = "examples"
KERNEL = "KERNEL"
NAMED_STAGES = ("ConvertTensorToTileOps", "ExpandMixedKernel")
DIFF_LINES = 200


class SnapshotState(Enum):
    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    UNCLAIMED = "unclaimed"  # a committed script without a case


@dataclass(frozen=True, slots=True)
class SnapshotCase:
    """One golden script: its name, the dump or example it is made from and the file it is kept in."""

    name: str
    source: Path
    script: Path

    def text(self) -> str:
        """The script as it is emitted now, with shape checks, formatted."""
        return torch_codegen(self._program(), check_shapes=True, format=True)

    def _program(self) -> ir.Program | ir.Function:
        if self.source.suffix == ".py":
            kernel = getattr(load_module(self.source), KERNEL)
            assert isinstance(kernel, pl.JITFunction)
            return kernel.specialize()
        program = ir.deserialize_from_file(str(self.source))
        assert isinstance(program, ir.Program | ir.Function)
        return program

    def compare(self) -> SnapshotResult:
        """Compare the committed script with the one emitted now."""
        text = self.text()
        if not self.script.is_file():
            return SnapshotResult(self, SnapshotState.MISSING, text)
        same = self.script.read_bytes() == text.encode()
        return SnapshotResult(self, SnapshotState.SAME if same else SnapshotState.DIFFERS, text)


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """Outcome of one comparison; ``text`` is the script as emitted now."""

    case: SnapshotCase
    state: SnapshotState
    text: str

    def diff(self, limit: int | None = DIFF_LINES) -> str:
        """Unified diff from the committed script to the one emitted now, at most ``limit`` lines of it."""
        old = self.case.script.read_text(encoding="utf-8") if self.case.script.is_file() else ""
        lines = list(
            difflib.unified_diff(
                old.splitlines(), self.text.splitlines(), "committed", "emitted now", n=3, lineterm=""
            )
        )
        shown = lines if limit is None else lines[:limit]
        left_out = len(lines) - len(shown)
        return "\n".join([*shown, *([f"... {left_out} more lines"] if left_out else [])])

    def update(self) -> None:
        """Make the script emitted now the committed one."""
        write_text(self.case.script, self.text)


def find_cases(dumps: Path, golden: Path) -> Iterator[SnapshotCase]:
    """All cases, by program and stage.

    The stages of a program are its frontend, the named stages that have a dump of their own, and the
    highest-numbered dump (unless that is the frontend).
    """
    for program in sorted(path for path in dumps.iterdir() if path.is_dir()):
        for stage, dump in _stages(program / BACKEND):
            yield SnapshotCase(f"{program.name}/{stage}", dump, golden / program.name / f"{stage}.py")


def find_example_cases(examples: Path, golden: Path) -> Iterator[SnapshotCase]:
    """The cases of the examples that define a KERNEL."""
    for path in sorted(examples.glob("*.py")):
        if f"\n{KERNEL} = " in path.read_text(encoding="utf-8"):
            yield SnapshotCase(f"{EXAMPLES}/{path.stem}", path, golden / EXAMPLES / path.name)


def _stages(folder: Path) -> Iterator[tuple[str, Path]]:
    dumps = sorted(folder.glob("*.msgpack"))
    by_pass = {dump.stem.partition("_after_")[2]: dump for dump in dumps}
    for dump in dumps:
        if dump.stem == FRONTEND:
            yield "frontend", dump
    for name in NAMED_STAGES:
        if name in by_pass:
            yield name, by_pass[name]
    if dumps and dumps[-1].stem != FRONTEND:
        yield LAST, dumps[-1]


def unclaimed(golden: Path, cases: list[SnapshotCase]) -> list[Path]:
    """Committed scripts that belong to no case."""
    claimed = {case.script for case in cases}
    return sorted(path for path in golden.rglob("*.py") if path not in claimed)
