"""What stands on top of a report: the first thing that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pypto_tmpl.compare.by_rank import LABEL
from pypto_tmpl.debug.report.marks import Marks, divergence_marks, failure_marks
from pypto_tmpl.debug.report.page_data import tensor_facts
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult
from pypto_tmpl.debug.validate.schedule import StageResult

SHOWN_TENSORS = 3
SCRIPT, TRACED = "in the script", "in the traced script"
SHOWN_ERROR = 6  # lines; the whole of it stands with the stage's outputs
SHOWN_FACTS = ("why", LABEL, "bad cells", "max abs diff", "where")


@dataclass(frozen=True, slots=True)
class Headline:
    """The sum of a result; ``stage`` is the number of the first bad stage, None where there is none.

    ``groups`` of labels and texts stand side by side; ``code`` are the labels whose texts are code.
    """

    text: str
    passed: bool
    stage: int | None = None
    groups: tuple[tuple[tuple[str, str], ...], ...] = ()
    code: frozenset[str] = frozenset({"rerun"})
    marks: Mapping[int, Marks] = field(default_factory=dict)

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """Labels of the wrong lines of the first bad stage, with that stage and the view that shows them."""
        if self.stage is None:
            return []
        marks = self.marks.get(self.stage, Marks())
        lines = (("IR", 2, marks.ir), ("script", 3, marks.script))
        return [(f"{what} {_lines(numbers)}", self.stage, view) for what, view, numbers in lines if numbers]


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def headline(
    result: ValidationResult,
    rerun: Rerun,
    divergence: Divergence | None = None,
    notes: Sequence[tuple[str, str]] = (),
) -> Headline:
    """The headline of a validation or a run; ``divergence`` tells what is wrong in the first bad stage."""
    checked, total = len(result.stages), result.total
    if not result.bad:
        beside = (tuple(notes),) if notes else ()
        if total == 0 or (result.stages and not any(stage.is_run for stage in result.stages)):
            return Headline(_not_run(total), passed=False, groups=beside)
        if not any(stage.verdicts for stage in result.stages) and checked == total:
            text = "It ran to its end; no output was compared"
        elif checked == total:
            text = "Every output is as expected" if total == 1 else f"All {total} stages are as expected"
        else:
            text = f"Interrupted: {checked} of {total} stages checked, these as expected"
        return Headline(text, passed=result.passed, groups=beside)
    bad_name = result.bad[0].stage.name if divergence is None else divergence.first_bad
    first = next((stage for stage in result.bad if stage.stage.name == bad_name), result.bad[0])
    index = result.stages.index(first)
    marks = {index: failure_marks(first)}
    if divergence is not None:
        marks |= divergence_marks(result, divergence)
    diverged = [*notes, *([] if divergence is None else _divergence_facts(result, divergence, marks))]
    facts = []
    if index and all(stage.passed for stage in result.stages[:index]):
        facts.append(("last good stage", result.stages[index - 1].stage.name))
    facts += _facts(first, rerun)
    code = {"rerun", "statement", SCRIPT, TRACED, f"in {divergence.last_good}" if divergence else ""}
    groups = tuple(tuple(group) for group in (diverged, facts) if group)
    return Headline(_text(first, total), False, index, groups, frozenset(code), marks)


def _not_run(total: int) -> str:
    return f"{total} stage{'' if total == 1 else 's'}, none of them run"


def _divergence_facts(
    result: ValidationResult, divergence: Divergence, marks: Mapping[int, Marks]
) -> Iterator[tuple[str, str]]:
    """Labels and texts of all that is known beyond the stage: where, why, and then the rest."""
    lines = [line.strip().partition(": ")[::2] for line in list(divergence.lines())[1:]]
    shown = next(
        (i for i, stage in enumerate(result.stages) if stage.stage.name == divergence.place_stage), -1
    )
    numbers = marks.get(shown, Marks()).script
    for label, text in [*lines[:1], *sorted(lines[1:], key=lambda line: line[0] != "because")]:
        if label != "generated":
            yield label, text.strip()
            continue
        # The traced script has more lines than the one that the page shows.
        if len(numbers) == 1:
            record = result.stages[shown].record
            code = "" if record is None else record.lines[numbers[0] - 1].strip()
            yield SCRIPT, f"line {numbers[0]}: {code}"
        else:
            yield TRACED, text.strip().partition(": ")[2]
    yield "found by", divergence.search


def _text(first: StageResult, total: int) -> str:
    what = {
        "wrong": "computes something else than expected",
        "failed": "fails",
        "timed out": "takes longer than its time limit",
    }.get(first.verdict, "cannot be read")
    return f"{first.stage.name} {what}" if total == 1 else f"First bad stage: {first.stage.name} {what}"


def _shortened(error: str) -> str:
    """An error without its traceback, which the page shows with the stage."""
    lines = error.splitlines()
    is_place = [line.lstrip("= ").startswith(('File "', "Traceback (most recent")) for line in lines]
    ends = (at for at, line in enumerate(lines) if is_place[at] or not line)
    kept = lines[: min(next(ends, len(lines)), SHOWN_ERROR)]
    return "\n".join(kept or lines[-1:])


def _facts(first: StageResult, rerun: Rerun) -> list[tuple[str, str]]:
    if first.failure is not None:
        return [("error", _shortened(first.failure.text)), ("rerun", rerun(first.stage, ""))]
    found: list[tuple[str, str]] = []
    bad = [verdict for verdict in first.verdicts if not verdict.passed]
    reruns = [rerun(first.stage, verdict.rerun_name) for verdict in bad]
    for verdict, command in zip(bad[:SHOWN_TENSORS], reruns, strict=False):
        shown = [fact for fact in tensor_facts(verdict) if fact[0] in SHOWN_FACTS]
        found += [("tensor", verdict.name), *shown]
        if len(set(reruns)) > 1:
            found.append(("rerun", command))
    if len(bad) > SHOWN_TENSORS:
        found.append(("wrong too", ", ".join(verdict.name for verdict in bad[SHOWN_TENSORS:])))
    return found if len(set(reruns)) > 1 else [*found, ("rerun", reruns[0])]
