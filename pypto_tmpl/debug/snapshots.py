"""Golden scripts: one committed script per program and stage, compared byte for byte.

A case is ``<program>/<stage>``. Its input is the stage's ``.msgpack`` dump under
``<dumps>/<program>/Ascend910B/``, its script ``<golden>/<program>/<stage>.py``. The case
``examples/<name>`` is the JIT function ``KERNEL`` of ``<examples>/<name>.py``, specialised for its
annotations.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug.torch_codegen import torch_codegen
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.modules import load_module
from pypto_tmpl.generated import check_place, is_script, write_generated

BACKEND = "Ascend910B"
FRONTEND = "00_frontend"
LAST = "last"
EXAMPLES = "examples"
KERNEL = "KERNEL"
NAMED_STAGES = ("ConvertTensorToTileOps", "ExpandMixedKernel")
DIFF_LINES = 200
_NUMBER = re.compile(r"\d+")


class SnapshotError(PyptoTmplError, ValueError):
    """Golden scripts cannot be compared or updated."""

    slug = "snapshot"


class SnapshotState(Enum):
    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    STALE = "stale"  # an emitted script without a case


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
        """What differs: line ends by name, lines as a unified diff of at most ``limit`` lines."""
        old = self.case.script.read_bytes() if self.case.script.is_file() else b""
        text = old.decode("utf-8", "backslashreplace")
        notes = [] if not old else list(_unseen(text))
        lines = list(
            difflib.unified_diff(
                _lines(text), _lines(self.text), "committed", "emitted now", n=3, lineterm=""
            )
        )
        shown = lines if limit is None else lines[:limit]
        left_out = len(lines) - len(shown)
        return "\n".join([*notes, *shown, *([f"... {left_out} more lines"] if left_out else [])])

    def check_update(self) -> None:
        """Refuse to replace what is no emitted script. Raises: ForeignFileError."""
        check_place(self.case.script, is_script, self.text.encode())

    def update(self) -> None:
        """Make the script emitted now the committed one. Raises: ForeignFileError, FileError."""
        write_generated(self.case.script, self.text, is_script, make_folders=True)


def _lines(text: str) -> list[str]:
    return (
        text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    )


def _unseen(committed: str) -> Iterator[str]:
    """What a diff of lines does not show."""
    ends = {"CR LF": committed.count("\r\n"), "CR": len(re.findall(r"\r(?!\n)", committed))}
    for name, number in ends.items():
        if number:
            yield f"line ends: {number} of the committed script are {name}, LF is emitted"
    if not committed.endswith(("\n", "\r")):
        yield "the committed script has no line end after its last line"
    elif committed.endswith(("\n\n", "\r\r", "\r\n\r\n")):
        yield "the committed script has empty lines at its end"
    if committed.startswith("\ufeff"):
        yield "the committed script begins with a byte-order mark"


def find_cases(dumps: Path, golden: Path) -> Iterator[SnapshotCase]:
    """All cases, by program and stage.

    The stages of a program are its frontend, the named stages that have a dump of their own, and the
    highest-numbered dump (unless that is the frontend). Raises: SnapshotError where there is no folder.
    """
    if not dumps.is_dir():
        raise SnapshotError(f"there is no folder of dumps {str(dumps)!r}", notes=_places("--dumps"))
    for program in sorted(path for path in dumps.iterdir() if path.is_dir()):
        for stage, dump in _stages(program / BACKEND):
            yield SnapshotCase(f"{program.name}/{stage}", dump, golden / program.name / f"{stage}.py")


def find_example_cases(examples: Path, golden: Path) -> Iterator[SnapshotCase]:
    """The cases of the examples that define a KERNEL. Raises: SnapshotError where there is no folder."""
    if not examples.is_dir():
        notes = _places("--examples", ", or --no-examples where there are none")
        raise SnapshotError(f"there is no folder of examples {str(examples)!r}", notes=notes)
    for path in sorted(examples.glob("*.py")):
        if f"\n{KERNEL} = " in path.read_text(encoding="utf-8"):
            yield SnapshotCase(f"{EXAMPLES}/{path.stem}", path, golden / EXAMPLES / path.name)


def _places(option: str, further: str = "") -> list[str]:
    return [f"run this in the project's folder, or give {option}{further}"]


def _stages(folder: Path) -> Iterator[tuple[str, Path]]:
    dumps = sorted(folder.glob("*.msgpack"), key=_pass_order)
    by_pass = {dump.stem.partition("_after_")[2]: dump for dump in dumps}
    for dump in dumps:
        if dump.stem == FRONTEND:
            yield "frontend", dump
    for name in NAMED_STAGES:
        if name in by_pass:
            yield name, by_pass[name]
    if dumps and dumps[-1].stem != FRONTEND:
        yield LAST, dumps[-1]


def _pass_order(dump: Path) -> tuple[int, str]:
    """By the number that the name starts with; without one it comes first and is never the last stage."""
    number = _NUMBER.match(dump.stem)
    return (int(number[0]) if number else -1, dump.stem)


def stale_scripts(golden: Path, cases: Sequence[SnapshotCase], *, examples: bool = True) -> list[Path]:
    """Emitted scripts ``<golden>/<program>/<stage>.py`` that belong to no case.

    Files without the mark of an emitted script, links, and what lies behind links are others'. Without
    ``examples`` their scripts do not count.
    """
    claimed = {case.script for case in cases}
    return sorted(
        path
        for path in golden.glob("*/*.py")
        if path not in claimed
        and not path.parent.is_symlink()
        and (examples or path.parent.name != EXAMPLES)
        and _is_emitted(path)
    )


def remove_stale(paths: Sequence[Path]) -> None:
    """Remove scripts that ``stale_scripts`` found, and nothing that has become another's since."""
    for path in paths:
        if _is_emitted(path):
            path.unlink()


def _is_emitted(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.is_file() and is_script(path.read_bytes())
    except OSError:  # what cannot be read cannot be known
        return False


def in_ci() -> bool:
    """Whether the environment says that this is a CI; ``CI=false`` and the like say that it is not."""
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off", "n", "f")
