"""What a validation found: as text, as plain data, and as the error that it ends in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pypto_tmpl.compare.tensors import TensorVerdict, worst_difference
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.errors import PyptoTmplError

_ON_BYTES = "this was a run on the bytes of the tiles; with storage off the stage runs by values"

Rerun = Callable[[Stage, str], str]
"""The command that repeats the check of one tensor (or, for "", of all) at one stage."""


class ValidationError(PyptoTmplError, AssertionError):
    """A stage computes something else than expected, or nothing; ``result`` has all that was found."""

    slug = "validation"
    result: ValidationResult


@dataclass(slots=True)
class ValidationResult:
    """The stages that were checked, in order, out of ``total``."""

    total: int
    stages: list[StageResult] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True when every stage was checked and passed."""
        return len(self.stages) == self.total and not self.bad

    @property
    def bad(self) -> list[StageResult]:
        """The stages that did not pass."""
        return [stage for stage in self.stages if not stage.passed]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a number that JSON has no form for is its text."""
        return {
            "passed": self.passed,
            "complete": len(self.stages) == self.total,
            "total": self.total,
            "checked": len(self.stages),
            "bad": [stage.stage.name for stage in self.bad],
            "stages": [stage_dict(stage) for stage in self.stages],
        }

    def error(self, rerun: Rerun) -> ValidationError:
        """The error that tells of the first bad stage, and names the others."""
        first, *others = self.bad
        what, notes = _told(first, rerun)
        if others:
            notes.append(f"bad too: {', '.join(stage.stage.name for stage in others)}")
        before = self.stages[: self.stages.index(first)]
        if before and all(stage.passed for stage in before):
            notes.append(f"the last good stage before it: {before[-1].stage.name}")
        error = ValidationError(f"{first.stage.name}: {what}", where=str(first.stage.path), notes=notes)
        error.result = self
        return error


def _told(stage: StageResult, rerun: Rerun) -> tuple[str, list[str]]:
    if stage.failure is not None:
        head, *lines = stage.failure.text.splitlines()
        return head, [*lines, f"rerun: {rerun(stage.stage, '')}", *_on_bytes(stage)]
    notes: list[str] = []
    bad = [verdict for verdict in stage.verdicts if not verdict.passed]
    for verdict in bad:
        notes.append(verdict.line())
        notes += [f"  {line}" for line in verdict.details()]
        notes.append(f"  rerun: {rerun(stage.stage, verdict.rerun_name)}")
    notes += [*_on_bytes(stage), *stage.notes]
    names = ", ".join(repr(verdict.name) for verdict in bad)
    worst = worst_difference(verdict.max_abs_diff for verdict in bad)
    return f"{names} not as expected, max diff {worst:.6e}", notes


def _on_bytes(stage: StageResult) -> Sequence[str]:
    """What is said of a bad stage whose tensors are those of a run on bytes."""
    return [_ON_BYTES] if stage.is_on_bytes and not stage.passed else []


def stage_lines(stage: StageResult, rerun: Rerun) -> Iterator[str]:
    """The text on one stage: a head, where it was read from, one line a tensor, and what is wrong."""
    yield f"{'=' * 20} {stage.stage.name} {'=' * 20}"
    if stage.read_from:
        note = f": {stage.note}" if stage.note else ""
        yield f"read from {Path(stage.read_from).name}{note}"
    if stage.same_as:
        yield f"same {stage.same_what} as {stage.same_as}: not run again"
    if stage.failure is not None:
        yield "no verdict: " + stage.failure.text.replace("\n", "\n    ")
        yield f"    rerun: {rerun(stage.stage, '')}"
    for verdict in stage.verdicts:
        yield verdict.line()
        yield from (f"    {line}" for line in verdict.details())
        if not verdict.passed:
            yield f"    rerun: {rerun(stage.stage, verdict.rerun_name)}"
    yield from (f"    {line}" for line in (*_on_bytes(stage), *stage.notes))


def stage_dict(stage: StageResult) -> dict[str, Any]:
    """Plain data on one stage."""
    return {
        "stage": stage.stage.name,
        "file": str(stage.stage.path),
        "passed": stage.passed,
        "read_from": stage.read_from,
        "note": stage.note,
        "on_bytes": stage.is_on_bytes,
        "overwrites": list(stage.notes),
        "same_as": stage.same_as,
        "same_what": stage.same_what,
        "seconds": round(stage.seconds, 6),
        "failure": None
        if stage.failure is None
        else {"kind": stage.failure.kind, "text": stage.failure.text},
        "tensors": [_verdict_dict(verdict) for verdict in stage.verdicts],
    }


def _verdict_dict(verdict: TensorVerdict) -> dict[str, Any]:
    found = asdict(verdict)
    tolerance, shape = found.pop("tolerance"), found.pop("shape")
    found.pop("picture")
    plain: dict[str, Any] = jsonable({**found, **tolerance, "error": shape})
    return plain


def jsonable(value: Any) -> Any:
    """The value for JSON; a number that JSON has no form for is its text."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
