"""One fault as files: the program, its inputs, two stages and their difference, a text for a tracker."""

from __future__ import annotations

import difflib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import JSON_MARK
from pypto_tmpl.hunt.blame import two_stages
from pypto_tmpl.hunt.comparing import tolerances
from pypto_tmpl.hunt.compilers import OURS
from pypto_tmpl.hunt.examine import Examined
from pypto_tmpl.hunt.findings import WRONG, Finding
from pypto_tmpl.hunt.programs.drawing import ENTRY, HuntedProgram, Settings
from pypto_tmpl.hunt.report.text import rendered_text
from pypto_tmpl.hunt.shrinking.edits import statement_count

PROGRAM, INPUTS, EXPECTED, DUMP = "program.py", "inputs.pt", "expected.pt", "passes_dump"
DIFFERENCE, TEXT, DATA = "stages.diff", "report.md", "fault.json"
_WORD = re.compile(r"[^A-Za-z0-9]+")
_ENDED = ("crash", "refused", "time")  # what is known of these is the last stage before
_SHOWN = 120  # lines of a difference that a text for a tracker has


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and the files that its folder holds, by their paths in it.

    ``drawn`` is the kind and the number of the program in which it was found, ``statements`` how many that
    had and how many the shrunk one has, ``compiler`` what it is a fault of.
    """

    finding: Finding
    program: HuntedProgram
    drawn: tuple[str, int]
    statements: tuple[int, int]
    difference: str = ""
    compiler: str = OURS
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the folder of the fault is called, without its number."""
        finding = self.finding
        return "_".join(
            filter(
                None, (_WORD.sub("_", part).strip("_")[:40] for part in asdict(finding.signature).values())
            )
        )

    @property
    def headline(self) -> str:
        """The fault in a line."""
        finding = self.finding
        by = finding.pass_name if finding.pass_name != finding.stage else "the compiler"
        if self.compiler != OURS and finding.wrong in _ENDED and by == finding.pass_name:
            by = f"the compiler behind {by}"  # the last stage that it has left is right
        return f"{by}: {WRONG[finding.wrong]}" + (f" ({finding.op})" if finding.op else "")

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **JSON_MARK,
            "compiler": self.compiler,
            "signature": asdict(self.finding.signature),
            "finding": asdict(self.finding),
            "drawn": {"kind": self.drawn[0], "seed": self.drawn[1]},
            "backend": self.program.backend,
            "settings": asdict(self.program.settings),
            "ranges": {name: list(pair) for name, pair in self.program.ranges.items()},
            "statements": {"drawn": self.statements[0], "shrunk": self.statements[1]},
        }


def fault_of(examined: Examined, drawn: HuntedProgram, compiler: str = OURS) -> Fault:
    """The fault of a program that has been shrunk, with its files."""
    finding, program = examined.finding, examined.program
    assert finding is not None
    files: dict[str, bytes] = {PROGRAM: program.text.encode()}
    if examined.inputs:
        files[INPUTS], files[EXPECTED] = _tensors(examined.inputs), _tensors(examined.expected)
    difference, texts = "", []
    for name, node in two_stages(examined):
        files[f"{DUMP}/{name}.msgpack"] = ir.serialize(node)
        texts.append((name, _text(node)))
        files[f"{DUMP}/{name}.py"] = texts[-1][1].encode()
    if len(texts) == 2:
        difference = _difference(*texts)
        files[DIFFERENCE] = difference.encode()
    counts = statement_count(drawn.text), statement_count(program.text)
    fault = Fault(finding, program, (drawn.kind, drawn.seed), counts, difference, compiler)
    files[TEXT] = report_text(fault, _arguments(examined)).encode()
    files[DATA] = (json.dumps(fault.as_dict(), indent=1) + "\n").encode()
    return replace(fault, files=files)


def _arguments(examined: Examined) -> str:
    """What ``bisect`` and ``validate`` are told; "" for a program without tensors."""
    if not examined.inputs:
        return ""
    told = tolerances(examined.expected)
    words = [f"--inputs {INPUTS} --expected {EXPECTED} --entry {ENTRY} --equal-nan"]
    return " ".join([*words, *(f"--tolerance {name}={given}" for name, given in told.items())])


def report_text(fault: Fault, arguments: str) -> str:
    """The Markdown text for a bug tracker; ``arguments`` are those for ``bisect``."""
    difference = fault.difference
    lines = difference.splitlines()
    return rendered_text(
        "report/hunt_fault.md.jinja",
        fault=fault,
        finding=fault.finding,
        wrong=WRONG[fault.finding.wrong],
        detail=fault.finding.detail.rstrip(),
        difference="\n".join(lines[:_SHOWN]),
        left_out=max(len(lines) - _SHOWN, 0),
        has_stages=bool(difference),
        tensors=arguments if difference else "",
        entry=ENTRY,
        is_ours=fault.compiler == OURS,
        options=_options(fault.program.settings),
    )


def _options(settings: Settings) -> str:
    """What ``pypto-tmpl lower`` is told of the settings."""
    planner = f" --planner {settings.memory_planner.lower()}" if settings.memory_planner else ""
    return planner + (" --buffers" if settings.buffers else "")


def _tensors(tensors: Mapping[str, torch.Tensor]) -> bytes:
    buffer = io.BytesIO()
    torch.save(dict(tensors), buffer)
    return buffer.getvalue()


def _text(node: ir.Program) -> str:
    try:
        return ir.python_print(node, format=False)
    except PyptoTmplError as error:
        return f"# this stage has no text: {error.what}\n"


def _difference(before: tuple[str, str], after: tuple[str, str]) -> str:
    (old, old_text), (new, new_text) = before, after
    lines = difflib.unified_diff(old_text.splitlines(), new_text.splitlines(), old, new, lineterm="")
    return "\n".join(lines) + "\n"
