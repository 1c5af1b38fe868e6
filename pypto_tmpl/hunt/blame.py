"""The first wrong statement of a finding, by the search that ``bisect`` makes between two stages."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.debug.search.bisect import StageSearch, explain
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.stages.dumps import Stage, find_stages
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.debug.validate.validation import Options, Validation
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.files import write_bytes
from pypto_tmpl.hunt.compilers import DUMP
from pypto_tmpl.hunt.examine import Examined
from pypto_tmpl.hunt.findings import Finding
from pypto_tmpl.hunt.naming import op_of
from pypto_tmpl.hunt.programs.drawing import ENTRY

_NEAR = 1e-4
_METHOD = "stage by stage"
_FOLDER = re.compile(rf"\S*{re.escape(os.sep)}(?={DUMP}{re.escape(os.sep)})")
"""Where a command has dumped: it is gone, and the folder of the fault has a dump of that name."""
TRACED = ("values", "input", "script")
"""What can be wrong with the values of a stage: the statement is found by tracing it."""


def blamed(examined: Examined) -> Finding:
    """The finding with its first wrong statement, as far as that can be known."""
    finding = examined.finding
    assert finding is not None
    if finding.wrong not in TRACED or len(examined.stages) < 2:
        return finding
    with tempfile.TemporaryDirectory(prefix="pypto-tmpl-hunt-") as folder:
        try:
            found = _divergence(examined, Path(folder))
        except Exception as error:  # the search follows programs that a compiler has broken
            return replace(finding, lines=(f"no statement can be blamed: {type(error).__name__}: {error}",))
    if found is None:
        return finding
    op = op_of(found.place.text) or finding.op
    lines = tuple(_FOLDER.sub("", line) for line in found.lines())
    return replace(finding, op=op, statement=found.place.text, lines=lines)


def write_stages(examined: Examined, folder: Path, *, text: bool = True) -> list[Stage]:
    """Write the last good stage and the wrong one as a pass dump; the stages, in order."""
    for name, node in two_stages(examined):
        write_bytes(folder / f"{name}.msgpack", ir.serialize(node))
        if text:
            write_bytes(folder / f"{name}.py", ir.python_print(node).encode())
    return find_stages(folder)


def two_stages(examined: Examined) -> Iterator[tuple[str, ir.Program]]:
    """The last good stage of a program and the first wrong one, as far as there are such."""
    finding = examined.finding
    assert finding is not None
    yield from ((name, node) for name, node in examined.stages if name in (finding.before, finding.stage))


def _divergence(examined: Examined, folder: Path) -> Divergence | None:
    stages = write_stages(examined, folder, text=False)
    if len(stages) < 2:
        return None
    good, bad = stages
    options = Options(rtol=_NEAR, atol=_NEAR, entry=ENTRY, equal_nan=True, jobs=1, storage="off")
    validation = Validation(bad.path, examined.inputs, examined.expected, options)
    results = list(validation.results())
    search = StageSearch(results[0], good, _METHOD, {one.stage.name: one for one in results})
    _refuse_unread(results[0])
    return explain(search, examined.inputs, examined.expected, options)


def _refuse_unread(result: StageResult) -> None:
    if result.failure is not None and result.failure.kind in ("unreadable", "request"):
        raise PyptoTmplError(result.failure.text)
