"""Dumps of the program before and after every pass, as text and in binary form."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pypto_tmpl import ir
from pypto_tmpl.compile.levels import PassDumpLevel
from pypto_tmpl.generated import has_no_mark, write_generated

FOLDER = "passes_dump"
FRONTEND = "00_frontend"


class PassObserver(Protocol):
    """What a pass pipeline tells while it runs; the pipeline numbers its passes from 1."""

    def frontend(self, program: ir.Program) -> None:
        """The program before the first pass."""

    def after_pass(self, position: int, name: str, program: ir.Program) -> None:
        """The program after a pass."""


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
        self._dump(f"{position:02d}_after_{name}", program)

    def _dump(self, stem: str, program: ir.Program) -> None:
        if self._level is PassDumpLevel.NONE:
            return
        explicit = self._level is PassDumpLevel.EXPLICIT
        text = ir.python_print(program, format=False, explicit_layout=explicit)
        files: dict[str, str | bytes] = {
            f"{stem}.py": text if text.endswith("\n") else f"{text}\n",
            f"{stem}.msgpack": ir.serialize(program),
        }
        for name, data in files.items():
            write_generated(self._build / FOLDER / name, data, has_no_mark, make_folders=True)
            self.written.append(f"{FOLDER}/{name}")
        self.last = f"{FOLDER}/{stem}.msgpack"
