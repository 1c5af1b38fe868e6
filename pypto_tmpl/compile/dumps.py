"""Dumps of the program before and after every pass, as text and in binary form."""

from __future__ import annotations

from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.generated import has_no_mark, write_generated
from pypto_tmpl.passes.dumping import FRONTEND, PassDumpLevel, dump_files, stage_stem

FOLDER = "passes_dump"


class PassDumper:
    """Writes every program it is told of to ``passes_dump/`` of a build directory.

    ``written`` lists the files, relative to the build directory, and ``last`` is the newest binary dump.
    """

    def __init__(self, build: Path, level: PassDumpLevel) -> None:
        self._build = build
        self._level = level
        self.written: list[str] = []
        self.last: str | None = None

    def frontend(self, program: ir.Program) -> None:
        """Dump the program before the first pass."""
        self._dump(FRONTEND, program)

    def after_pass(self, position: int, name: str, program: ir.Program) -> None:
        """Dump the program after a pass."""
        self._dump(stage_stem(position, name), program)

    def _dump(self, stem: str, program: ir.Program) -> None:
        if self._level is PassDumpLevel.NONE:
            return
        files = dump_files(stem, program, self._level)
        for name, data in files.items():
            write_generated(self._build / FOLDER / name, data, has_no_mark, make_folders=True)
            self.written.append(f"{FOLDER}/{name}")
        self.last = f"{FOLDER}/{stem}.msgpack"
