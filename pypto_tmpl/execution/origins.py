"""From the lines of an emitted script back to the lines of the source that its statements were made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import laid_out
from pypto_tmpl.codegen.options import options_in
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.script import PreambleMode, generator
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.generated import is_source_map, write_generated

_IMPORTED = "\nfrom pypto_tmpl.preamble import "


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
    found = record_of(node, script, template_dirs=template_dirs, trace=trace)
    return {} if found is None else dict(found.sources)


def record_of(
    node: ir.Program | ir.Function,
    text: str,
    *,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
    takes_notes: bool = False,
) -> Script | None:
    """The record of a script of which only the text was kept, None if it was not emitted for ``node``.

    Whoever emits a script has its record; see ``source_lines`` for the texts that are known again.
    """
    maker = generator(template_dirs)
    options = options_in(text)
    preambles: tuple[PreambleMode, ...] = ("import",) if _IMPORTED in text else ("script", "full")
    for check_shapes in (False, True):
        for preamble in preambles:
            script = maker.script(
                node,
                check_shapes=check_shapes,
                preamble=preamble,
                trace=trace,
                options=options,
                takes_notes=takes_notes,
            )
            if (found := laid_out(script, text)) is not None:
                return found
    return None


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
