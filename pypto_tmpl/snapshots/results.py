"""Committed scripts against those that are emitted now, and what is written where they differ."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pypto_tmpl.generated import check_place, write_generated
from pypto_tmpl.snapshots.cases import SnapshotCase
from pypto_tmpl.snapshots.config import Config
from pypto_tmpl.snapshots.places import TEST_FOLDER, has_mark, is_emitted
from pypto_tmpl.snapshots.streams import STREAMS

ENDINGS = tuple({".py", *(Path(form.file).suffix for form in STREAMS.values())})


class SnapshotState(Enum):
    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """Outcome of one comparison; ``text`` is the script as emitted now, ``committed`` what there is."""

    case: SnapshotCase
    committed: bytes | None
    text: str

    @property
    def state(self) -> SnapshotState:
        """Whether the committed script is the one that is emitted now, byte for byte."""
        if self.committed is None:
            return SnapshotState.MISSING
        return SnapshotState.SAME if self.committed == self.text.encode() else SnapshotState.DIFFERS

    def notes(self) -> list[str]:
        """What a diff of lines does not show."""
        if self.state is not SnapshotState.DIFFERS or self.committed is None:
            return []
        return list(_unseen(self.committed.decode("utf-8", "backslashreplace")))


def compare(case: SnapshotCase) -> SnapshotResult:
    """Compare the committed script of a case with the one emitted now. Raises PyptoTmplError."""
    text = case.text()
    return SnapshotResult(case, case.script.read_bytes() if case.script.is_file() else None, text)


def update(results: Sequence[SnapshotResult]) -> None:
    """Make the scripts emitted now the committed ones; every place is looked at before any is written.

    Raises: ForeignFileError where a file of somebody else is in the way, FileError.
    """
    for result in results:
        check_place(result.case.script, has_mark, result.text.encode())
    for result in results:
        write_generated(result.case.script, result.text, has_mark, make_folders=True)


def _unseen(committed: str) -> Iterator[str]:
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


def stale_scripts(config: Config, cases: Sequence[SnapshotCase]) -> list[Path]:
    """Emitted scripts in the folder of the configuration that belong to no case.

    Files without the mark of an emitted script, links, what lies behind links or in hidden folders, and the
    snapshots of tests are others'.
    """
    claimed = {case.script for case in cases}
    found = []
    for folder, folders, files in os.walk(config.golden):
        folders[:] = [name for name in folders if not name.startswith(".") and name != TEST_FOLDER]
        paths = (Path(folder, name) for name in files if name.endswith(ENDINGS))
        found += [path for path in paths if path not in claimed and is_emitted(path)]
    return sorted(found)
