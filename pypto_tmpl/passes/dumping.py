"""Dumps of a program between passes: the levels, the names of the files, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from linecache import getline
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.files import write_bytes
from pypto_tmpl.ir.verifier import Diagnostic

FRONTEND = "00_frontend"


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


def stage_stem(position: int, pass_name: str) -> str:
    """The name of the files of a stage; passes are counted from 1."""
    return f"{position:02d}_after_{pass_name}"


def dump_files(stem: str, program: ir.Program, level: PassDumpLevel, prefix: str = "pl") -> dict[str, bytes]:
    """The files of a stage by name: text and binary form; none at level NONE."""
    if level is PassDumpLevel.NONE:
        return {}
    is_explicit = level is PassDumpLevel.EXPLICIT
    text = ir.python_print(program, prefix, format=False, explicit_layout=is_explicit)
    text = text if text.endswith("\n") else f"{text}\n"
    return {f"{stem}.py": text.encode(), f"{stem}.msgpack": ir.serialize(program)}


def write_stage(
    folder: Path,
    stem: str,
    program: ir.Program,
    level: PassDumpLevel,
    prefix: str = "pl",
    warnings: Sequence[Diagnostic] = (),
) -> None:
    """Write the files of a stage into a folder, over those of an earlier run, and its warnings, if any."""
    files = dump_files(stem, program, level, prefix)
    if warnings:
        files[f"{stem}.log"] = "".join(map(_shown, warnings)).encode()
    for name, data in files.items():
        write_bytes(folder / name, data)


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
