"""Dumps of a program between passes: the levels, the names of the files, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from linecache import getline
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.files import write_bytes
from pypto_tmpl.ir.printer import ProgramPrinter
from pypto_tmpl.ir.verifier import Diagnostic
from pypto_tmpl.ir.wire import Serializer

Write = Callable[[Path, bytes], None]
"""Writes a file."""


class PassDumpLevel(Enum):
    """What pass dumps hold: nothing, the usual text, or text with every layout field written out.

    As with members of any enum, all are true, NONE too: compare instead.
    """

    NONE = 0
    CONCISE = 1
    EXPLICIT = 2


def coerce_dump_level(dump_passes: object) -> PassDumpLevel:
    """The level of a ``dump_passes`` option: a level, or a bool (True is CONCISE).

    Raises TypeError for anything else.
    """
    if isinstance(dump_passes, PassDumpLevel):
        return dump_passes
    if isinstance(dump_passes, bool):
        return PassDumpLevel.CONCISE if dump_passes else PassDumpLevel.NONE
    allowed = ", ".join(f"PassDumpLevel.{level.name}" for level in PassDumpLevel)
    raise TypeError(f"dump_passes must be a bool or one of {allowed}, got {dump_passes!r}")


@dataclass(slots=True)
class StageDumps:
    """Writes the stages of a pipeline into a folder, by default over the files of an earlier run."""

    folder: Path
    level: PassDumpLevel
    prefix: str = "pl"
    write: Write = write_bytes
    _last: tuple[ir.Program, dict[str, bytes]] | None = field(default=None, init=False)
    _printer: ProgramPrinter = field(init=False)
    _serializer: Serializer = field(default_factory=Serializer, init=False)

    def __post_init__(self) -> None:
        is_explicit = self.level is PassDumpLevel.EXPLICIT
        self._printer = ProgramPrinter(self.prefix, explicit_layout=is_explicit)

    def stage(self, stem: str, program: ir.Program, warnings: Sequence[Diagnostic] = ()) -> None:
        """Write the files of a stage, and its warnings, if any.

        A program, or a function, that a pass has left as it was is not printed anew.
        """
        if self._last is not None and self._last[0] is program:
            files = {f"{stem}{Path(name).suffix}": data for name, data in self._last[1].items()}
        else:
            files = self._files(stem, program)
        self._last = program, dict(files)
        if warnings:
            files[f"{stem}.log"] = "".join(map(_shown, warnings)).encode()
        for name, data in files.items():
            self.write(self.folder / name, data)

    def _files(self, stem: str, program: ir.Program) -> dict[str, bytes]:
        """The files of a stage by name: text and binary form; none at level NONE."""
        if self.level is PassDumpLevel.NONE:
            return {}
        text = self._printer.text(program)
        text = text if text.endswith("\n") else f"{text}\n"
        return {f"{stem}.py": text.encode(), f"{stem}.msgpack": self._serializer.serialize(program)}


def _shown(found: Diagnostic) -> str:
    """A warning as compilers show it: place, what it is, and the line with a caret."""
    span = found.span
    what = f"{found.severity.value}: {found.message} [{found.rule_name}]\n"
    if not span.is_valid():
        return f"{found.function}: {what}"
    place = f"{span.filename}:{span.begin_line}:{span.begin_column}"
    line = getline(span.filename, span.begin_line).rstrip("\n")
    shown = f"    {line}\n    {' ' * max(span.begin_column - 1, 0)}^\n" if line else ""
    return f"{place}: {what}{shown}"
