"""From the lines of an emitted script back to the lines of the source that its statements were made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.codegen.script import PreambleMode, generator
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.generated import is_source_map, write_generated

_PREAMBLES: tuple[PreambleMode, ...] = ("used", "full")


def source_lines(
    node: ir.Program | ir.Function,
    script: str,
    *,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
) -> dict[str, str]:
    """``{"12": "kernel.py:34"}``: the source lines of a script that was emitted for ``node``.

    A line that no statement of known source stands on is left out; so are all if the script is not what
    ``torch_codegen`` makes of ``node``, with shape checks or without, formatted or not, and with ``trace``.
    """
    found = statements_of_lines(node, script, template_dirs=template_dirs, trace=trace)
    return {
        str(line): f"{stmt.span.filename}:{stmt.span.begin_line}"
        for line, stmt in sorted(found.items())
        if stmt.span.is_valid()
    }


def statements_of_lines(
    node: ir.Program | ir.Function,
    script: str,
    *,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
) -> dict[int, ir.Stmt]:
    """The statement that each line of a script was made from; see ``source_lines``."""
    emitter = generator(template_dirs)
    for check_shapes in (False, True):
        for preamble in _PREAMBLES:
            found = emitter.statements_of_lines(node, script, check_shapes, preamble, trace)
            if found:
                return found
    return {}


def write_source_map(path: Path, lines: Mapping[str, str]) -> None:
    """Write source lines where the script of that path looks for them. Raises FileError, ForeignFileError."""
    write_generated(
        source_map_path(path), json.dumps(lines, indent=1) + "\n", is_source_map, make_folders=True
    )


def source_map_path(script: Path) -> Path:
    """The file beside a script that holds its source lines."""
    return script.with_suffix(".map.json")


class LazySourceLines(Mapping[str, str]):
    """Source lines that are worked out when a report first asks for one."""

    def __init__(self, find: Callable[[], Mapping[str, str]]) -> None:
        self._find = find
        self._lines: Mapping[str, str] | None = None

    def _found(self) -> Mapping[str, str]:
        if self._lines is None:
            self._lines = self._find()
        return self._lines

    def __getitem__(self, line: str) -> str:
        return self._found()[line]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())
