"""What the page of a report shows, as plain data: the part that its script draws from."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pypto_tmpl.codegen.record import Script
from pypto_tmpl.compare.by_rank import LABEL, ranks_line
from pypto_tmpl.compare.picture import ErrorPicture
from pypto_tmpl.compare.tensors import TensorVerdict
from pypto_tmpl.debug.report.attached import Attached
from pypto_tmpl.debug.report.ir_diff import SectionChange, section_changes
from pypto_tmpl.debug.report.ir_sections import Section, ir_sections
from pypto_tmpl.debug.report.line_table import LineTable
from pypto_tmpl.debug.report.marks import Marks, failure_marks
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult
from pypto_tmpl.debug.validate.schedule import StageResult

IR_VIEW = 2  # the number of the page's view of the text


def how_it_ran(stage: StageResult) -> str:
    """Where a stage was read from, and whether it ran."""
    if stage.same_as:
        return f"same {stage.same_what} as {stage.same_as}"
    if not stage.read_from:
        return "not read"
    return {".py": "text", ".msgpack": "msgpack"}.get(
        Path(stage.read_from).suffix, Path(stage.read_from).name
    )


def tensor_facts(verdict: TensorVerdict) -> Iterator[tuple[str, str]]:
    """Labels and texts of what is known about a tensor's error."""
    if verdict.reason and not verdict.passed:
        yield "why", verdict.reason
    if verdict.wrong_by_rank:
        yield LABEL, ranks_line(verdict.wrong_by_rank).removeprefix(f"{LABEL}: ")
    if verdict.shape is None:
        yield "max abs diff", f"{verdict.max_abs_diff:.6e}"
        return
    for line in verdict.shape.lines():
        label, _, text = line.partition(": ")
        yield label, text


@dataclass(slots=True)
class PageData:
    """Collects what the stages of one result share: lines of text, and pictures."""

    rerun: Rerun
    marks: Mapping[int, Marks] = field(default_factory=dict)  # by the number of a stage
    attached: Attached = field(default_factory=Attached)
    lines: LineTable = field(default_factory=LineTable)
    pictures: dict[ErrorPicture, int] = field(default_factory=dict)

    def build(self, result: ValidationResult) -> dict[str, Any]:
        """The data on all stages; lists of numbers are those of ``LineTable`` and ``Block``."""
        before: tuple[int, Sequence[Section]] | None = None
        stages = []
        for index, stage in enumerate(result.stages):
            sections = ir_sections(stage.ir)
            marks = self.marks.get(index, Marks())
            stages.append(self._stage(stage, sections, before) | _marked(stage, marks))
            if sections:
                before = index, sections
        return {
            "extras": self.attached.data(self.lines),
            "kernels": list(self.attached.kernels),
            "lines": self.lines.lines,
            "stages": stages,
            "first_view": 0 if any(stage.is_run for stage in result.stages) else IR_VIEW,
            "pictures": [_picture_data(picture) for picture in self.pictures],
        }

    def _stage(
        self, stage: StageResult, sections: Sequence[Section], before: tuple[int, Sequence[Section]] | None
    ) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": stage.stage.name,
            "file": str(stage.stage.path),
            "verdict": stage.verdict,
            "passed": stage.passed,
            "is_run": stage.is_run,
            "mark": "✗" if not stage.passed else "✓" if stage.is_run else "·",
            "time": f"{stage.seconds:.3f} s" if stage.is_run or stage.seconds else "",
            "why_nothing": "No output was compared." if stage.is_run else "This stage was not run.",
            "how": how_it_ran(stage),
            "how_shortly": f"same {stage.same_what}" if stage.same_as else how_it_ran(stage),
            "note": stage.note,
            "rerun": self.rerun(stage.stage, ""),
            "failure": None if stage.failure is None else stage.failure.text,
            "tensors": [self._tensor(stage, verdict) for verdict in stage.verdicts],
            "ir": [[section.name, section.start, self.lines.runs(section.lines)] for section in sections],
            "script": self.lines.runs([] if stage.record is None else stage.record.text.splitlines()),
            "program_lines": program_lines(stage.record),
            "before": None,
            "changes": [],
        }
        if before is not None and sections:
            found["before"], earlier = before
            found["changes"] = [_change_data(change) for change in section_changes(earlier, sections)]
        return found

    def _tensor(self, stage: StageResult, verdict: TensorVerdict) -> dict[str, Any]:
        picture = verdict.picture
        return {
            "name": verdict.name,
            "passed": verdict.passed,
            "line": verdict.line(),
            "is_equal": verdict.passed and verdict.max_abs_diff == 0,
            "facts": list(tensor_facts(verdict)),
            "picture": None if picture is None else self.pictures.setdefault(picture, len(self.pictures)),
            "rerun": self.rerun(stage.stage, verdict.rerun_name),
        }


def change_counts(stage: Mapping[str, Any]) -> tuple[int, int]:
    """How many lines of a stage are new and gone, of the data that ``PageData`` made of it."""
    counts = [change["counts"] for change in stage["changes"]]
    return sum(new for new, _ in counts), sum(gone for _, gone in counts)


def program_lines(script: Script | None) -> int:
    """How many lines of a script stand before its run-time helpers: imports and functions."""
    return max((function.last for function in script.functions), default=0) if script is not None else 0


def _marked(stage: StageResult, marks: Marks) -> dict[str, Any]:
    """The lines that the page marks, and those of them that it shows first."""
    failed = failure_marks(stage)
    return {
        "failed_lines": sorted({*failed.script, *marks.script}),
        "failed_ir_lines": sorted({*failed.ir, *marks.ir}),
        "first_lines": {"IR": min(marks.ir, default=None), "Script": min(marks.script, default=None)},
    }


def _change_data(change: SectionChange) -> dict[str, Any]:
    return {
        "name": change.name,
        "before": change.before,
        "after": change.after,
        "counts": change.counts(),
        # A function that stayed as it is needs no blocks.
        "blocks": [list(block) for block in change.blocks] if change.is_changed else [],
    }


def _picture_data(picture: ErrorPicture) -> dict[str, Any]:
    found = asdict(picture)
    for name in ("levels", "bad"):
        found["map"][name] = b64encode(found["map"][name]).decode()
    return found
