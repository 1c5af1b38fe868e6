"""What a pytest run knows of the snapshots of its tests; imports little, since pytest loads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pypto_tmpl.snapshots.places import TEST_FOLDER, is_emitted, remove_emitted

Tests = dict[str, set[str]]
"""The names of tests by their file; of scripts that tests have, by name without ``.py``."""


class SnapshotRecord:
    """Tests that there are and that passed, with the snapshots they used; workers' records are merged.

    A snapshot is unused where its test is gone, or has passed without it. Files that are not run as a whole
    are left out of that.
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.written: set[str] = set()
        self.failed: set[str] = set()
        self.removed: list[Path] = []
        self._collected: Tests = {}
        self._passed: Tests = {}
        self._skipped: set[str] = set()
        self._is_partial = False

    def collect(self, file: Path, test: str) -> None:
        """Note a test that there is."""
        self._collected.setdefault(str(file), set()).add(test)

    def passed(self, file: Path, test: str) -> None:
        """Note a test that came to its end."""
        self._passed.setdefault(str(file), set()).add(test)

    def skip(self, file: Path) -> None:
        """Note a file that is not run as a whole."""
        self._skipped.add(str(file))

    def skip_all(self) -> None:
        """Note that no file is run as a whole."""
        self._is_partial = True

    def as_data(self) -> dict[str, Any]:
        """The record as plain data, for another process."""
        return {
            "used": sorted(self.used),
            "written": sorted(self.written),
            "failed": sorted(self.failed),
            "collected": {file: sorted(tests) for file, tests in self._collected.items()},
            "passed": {file: sorted(tests) for file, tests in self._passed.items()},
            "skipped": sorted(self._skipped),
            "is_partial": self._is_partial,
        }

    def merge(self, data: dict[str, Any]) -> None:
        """Take what ``as_data`` of another process gave."""
        self.used |= {*data["used"]}
        self.written |= {*data["written"]}
        self.failed |= {*data["failed"]}
        for own, given in ((self._collected, data["collected"]), (self._passed, data["passed"])):
            for file, tests in given.items():
                own.setdefault(file, set()).update(tests)
        self._skipped |= {*data["skipped"]}
        self._is_partial |= data["is_partial"]

    def unused(self) -> list[Path]:
        """Scripts in the folders of the tests' files that no test has any more, as far as that is known."""
        if self._is_partial:
            return []
        whole = [Path(file) for file in self._collected if file not in self._skipped]
        folders = {file.parent / TEST_FOLDER / file.stem: str(file) for file in whole}
        found = [path for folder, file in folders.items() for path in self._unused_of(folder, file)]
        for parent in {file.parent for file in whole}:
            for folder in sorted((parent / TEST_FOLDER).glob("*/")):
                if not (parent / f"{folder.name}.py").exists():
                    found += _scripts(folder)
        return sorted(found)

    def _unused_of(self, folder: Path, file: str) -> Iterator[Path]:
        passed = {stem_of(test) for test in self._passed.get(file, ())}
        open_tests = {stem_of(test) for test in self._collected[file]} - passed
        for path in _scripts(folder):
            may_be_used = any(path.stem == stem or path.stem.startswith(f"{stem}.") for stem in open_tests)
            if str(path) not in self.used and not may_be_used:
                yield path

    def remove_unused(self) -> None:
        """Remove the scripts that are unused."""
        self.removed = self.unused()
        remove_emitted(self.removed)

    def summary(self, here: Path, *, is_detailed: bool) -> list[str]:
        """Lines on what there was."""
        unused = self.unused()
        groups = {
            "failed": sorted(map(Path, self.failed)),
            "written": sorted(map(Path, self.written)),
            "removed": self.removed,
            "unused": unused,
        }
        good = len(self.used) - len(self.failed) - len(self.written)
        counts = [f"{good} passed", *(f"{len(paths)} {what}" for what, paths in groups.items() if paths)]
        hint = "" if is_detailed or not unused else " (--snapshot-details lists them)"
        lines = [", ".join(counts) + hint]
        if is_detailed:
            lines += [
                f"{what}: {os.path.relpath(path, here)}"
                for what, paths in groups.items()
                if what != "failed"
                for path in paths
            ]
        return lines


def _scripts(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.py")) if is_emitted(path)]


def stem_of(test: str) -> str:
    """The name of the script of a test: the test's, with a digest where a file cannot be named like it."""
    safe = "".join(c if c.isalnum() or c in "_-.[]" else "_" for c in test)[:120]
    if safe == test:
        return safe
    from hashlib import sha256

    return f"{safe}-{sha256(test.encode()).hexdigest()[:8]}"
