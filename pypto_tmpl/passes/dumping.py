"""Dumps of a program between passes: the levels, the names of the files, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from linecache import getline
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.files import write_bytes
from pypto_tmpl.ir.verifier import Diagnostic

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


def dump_files(stem: str, program: ir.Program, level: PassDumpLevel, prefix: str = "pl") -> dict[str, bytes]:
    """The files of a stage by name: text and binary form; none at level NONE."""
    if level is PassDumpLevel.NONE:
        return {}
    is_explicit = level is PassDumpLevel.EXPLICIT
    text = ir.python_print(program, prefix, format=False, explicit_layout=is_explicit)
    text = text if text.endswith("\n") else f"{text}\n"
    return {f"{stem}.py": text.encode(), f"{stem}.msgpack": ir.serialize(program)}


@dataclass(slots=True)
class StageDumps:
    """Writes the stages of a pipeline into a folder, by default over the files of an earlier run."""

    folder: Path
    level: PassDumpLevel
    prefix: str = "pl"
    write: Write = write_bytes
    _last: tuple[ir.Program, dict[str, bytes]] | None = field(default=None, init=False)

    def stage(self, stem: str, program: ir.Program, warnings: Sequence[Diagnostic] = ()) -> None:
        """Write the files of a stage, and its warnings, if any.

        A program that a pass has left as it was is not printed anew.
        """
        if self._last is not None and self._last[0] is program:
            files = {f"{stem}{Path(name).suffix}": data for name, data in self._last[1].items()}
        else:
            files = dump_files(stem, program, self.level, self.prefix)
        self._last = program, dict(files)
        if warnings:
            files[f"{stem}.log"] = "".join(map(_shown, warnings)).encode()
        for name, data in files.items():
            self.write(self.folder / name, data)


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
