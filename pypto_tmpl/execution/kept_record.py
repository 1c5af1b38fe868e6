"""The record of a script in a file beside it, for whoever finds the script later: nobody emits it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Literal, TypeVar

import msgspec

from pypto_tmpl import ir
from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.codegen.record import Script, ScriptFunction
from pypto_tmpl.codegen.tracing import located_statements

PathT = TypeVar("PathT", bound=PurePath)


@dataclass(frozen=True, slots=True)
class _Statement:
    """Where a statement stands in the IR, its lines, that which it is known by, and what it launches."""

    function: str
    path: str
    lines: tuple[int, ...]
    head: int | None
    note: LaunchNote | None


@dataclass(frozen=True, slots=True)
class _Record:
    """What a record has, without nodes; ``sources`` are file and line by the script's line."""

    sha256: str
    names: dict[str, str]
    functions: tuple[ScriptFunction, ...]
    helpers: tuple[str, ...]
    program_line: int
    sources: dict[int, tuple[str, int]]
    statements: tuple[_Statement, ...]
    generated_by: Literal["pypto_tmpl"] = "pypto_tmpl"


def record_path(script: PathT) -> PathT:
    """The file beside a script that holds its record."""
    return script.with_suffix(".record.json")


def record_text(script: Script, functions: Iterable[ir.Function]) -> str:
    """What that file holds, for a script that was made from these functions."""
    record = _Record(
        _digest(script.text),
        dict(script.names),
        script.functions,
        script.helpers,
        script.program_line,
        {line: (span.filename, span.begin_line) for line, span in script.spans.items()},
        tuple(_statements(script, functions)),
    )
    return msgspec.json.encode(record).decode() + "\n"


def kept_record(script: Path, text: str, functions: Iterable[ir.Function] = ()) -> Script | None:
    """The record of a script; None where it was not kept, or for another ``text`` than the script has.

    It has the statements of ``functions``, which are those that the script was made from.
    """
    try:
        record = msgspec.json.decode(record_path(script).read_bytes(), type=_Record)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    if record.sha256 != _digest(text):
        return None
    nodes = {(f.name, path): stmt for f in functions for path, stmt in located_statements(f.body)}
    found = [(nodes[at], kept) for kept in record.statements if (at := (kept.function, kept.path)) in nodes]
    return Script(
        text,
        record.names,
        record.functions,
        record.helpers,
        record.program_line,
        dict(sorted(((line, stmt) for stmt, kept in found for line in kept.lines), key=itemgetter(0))),
        {stmt: kept.head for stmt, kept in found if kept.head is not None},
        {line: ir.Span(filename, number, -1) for line, (filename, number) in record.sources.items()},
        notes={stmt: kept.note for stmt, kept in found if kept.note is not None},
    )


def _statements(script: Script, functions: Iterable[ir.Function]) -> Iterator[_Statement]:
    lines: dict[ir.Stmt, list[int]] = {}
    for line, stmt in script.statements.items():
        lines.setdefault(stmt, []).append(line)
    for function in functions:
        for path, stmt in located_statements(function.body):
            if stmt in lines or stmt in script.notes:
                note, own = script.notes.get(stmt), tuple(lines.get(stmt, ()))
                yield _Statement(function.name, path, own, script.heads.get(stmt), note)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
