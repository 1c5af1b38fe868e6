"""From a pass dump with wrong results to the first stage and the first statement that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from os import PathLike

import torch

from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.compare.by_rank import ranks_line
from pypto_tmpl.compare.tensors import TensorVerdict
from pypto_tmpl.debug.search.blame import Blame
from pypto_tmpl.debug.search.divergence import Divergence, Kind
from pypto_tmpl.debug.search.on_bytes import misread_on_bytes
from pypto_tmpl.debug.search.summaries import statement_place, value_summary
from pypto_tmpl.debug.search.suspects import Suspect
from pypto_tmpl.debug.search.undefined import undefined_use
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.stages.preparation import Request
from pypto_tmpl.debug.trace.matching import Matching
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.run import trace_stage
from pypto_tmpl.debug.trace.traced_stage import Place, Series, TracedStage
from pypto_tmpl.debug.trace.value_match import EXACT, ROUNDED, Comparable, worst_cell
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.debug.validate.validation import Number, Options, Validation
from pypto_tmpl.execution.entry import user_name
from pypto_tmpl.execution.statement_place import StatementPlace

BINARY = "binary search"


@dataclass(slots=True)
class StageSearch:
    """The first bad stage, the last good one before it (None if there is none), and how they were found."""

    first_bad: StageResult | None
    last_good: Stage | None
    method: str
    results: dict[str, StageResult] = field(default_factory=dict)


def first_divergence(
    source: str | PathLike[str],
    tensors: Mapping[str, torch.Tensor | Number],
    expected: Mapping[str, torch.Tensor],
    options: Options | None = None,
    *,
    scan: bool = False,
    progress: Callable[[StageResult], None] | None = None,
) -> Divergence | None:
    """The first statement of a pass dump whose value is wrong; None if all stages are as expected.

    The first bad stage is found by binary search, or stage by stage with ``scan`` and where the verdicts are
    not of the form good ... good, bad ... bad. It and the last good stage then run with every value recorded.
    ``progress`` is called with the verdict of each stage that was run.
    Raises what ``validate_pass_ir_codegen_results`` raises, except for a bad stage.
    """
    search = find_first_bad(source, tensors, expected, options or Options(), scan=scan, progress=progress)
    if search.first_bad is None:
        return None
    return explain(search, tensors, expected, options or Options())


def find_first_bad(
    source: str | PathLike[str],
    tensors: Mapping[str, torch.Tensor | Number],
    expected: Mapping[str, torch.Tensor],
    options: Options,
    *,
    scan: bool = False,
    progress: Callable[[StageResult], None] | None = None,
) -> StageSearch:
    """The first stage that is not as expected."""
    stages = Validation(source, tensors, expected, options).stages
    results: dict[str, StageResult] = {}

    def verdict(number: int) -> StageResult:
        stage = stages[number]
        if stage.name not in results:
            single = Validation(stage.path, tensors, expected, replace(options, jobs=1))
            with closing(single.results()) as found:
                results[stage.name] = next(found)
            error = results[stage.name].failure
            if error is not None and error.error is not None:
                raise error.error
            if progress is not None:
                progress(results[stage.name])
        return results[stage.name]

    method = "scan" if scan else BINARY
    first = None if scan else _boundary(verdict, len(stages))
    if first is None:
        if not scan:
            method = "scan, since the verdicts are not good up to one stage and bad from there on"
        first = next((i for i in range(len(stages)) if _is_bad(verdict(i))), None)
    if first is None:
        return StageSearch(None, stages[-1], method, results)
    good = next((stages[i] for i in reversed(range(first)) if verdict(i).passed), None)
    return StageSearch(verdict(first), good, method, results)


def is_neither(result: StageResult) -> bool:
    """True for a stage that is neither good nor bad, since it cannot be read."""
    return result.failure is not None and result.failure.kind not in ("script", "undefined", "misplaced")


def _is_bad(result: StageResult) -> bool:
    return not result.passed and not is_neither(result)


def _boundary(verdict: Callable[[int], StageResult], count: int) -> int | None:
    """The first bad stage by binary search; None where the verdicts do not allow for one."""
    if _is_bad(verdict(0)):
        return 0
    if not verdict(0).passed or not _is_bad(verdict(count - 1)):
        return None
    good, bad = 0, count - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        result = verdict(middle)
        if result.passed:
            good = middle
        elif _is_bad(result):
            bad = middle
        else:
            return None
    return bad


def explain(
    search: StageSearch,
    tensors: Mapping[str, torch.Tensor | Number],
    expected: Mapping[str, torch.Tensor],
    options: Options,
) -> Divergence:
    """Where the first bad stage of a search goes wrong."""
    assert search.first_bad is not None
    stage = search.first_bad.stage
    validation = Validation(stage.path, tensors, expected, options)
    request = Request(
        frozenset(validation.inputs),
        options.entry,
        options.template_dirs,
        companions_first=options.companions_first,
        trace=TraceSelection(inputs=True),
    )
    if search.first_bad.is_on_bytes:
        on_bytes = replace(request, storage=options.storage)
        found = misread_on_bytes(
            stage,
            search.last_good,
            search.method,
            (validation.inputs, validation.expected),
            (request, on_bytes),
        )
        if found is not None:
            return found
    try:
        bad = TracedStage(*trace_stage(stage, validation.inputs, validation.expected, request))
    except UnsupportedProgramError as error:
        return undefined_use(stage, search.last_good, search.method, error)
    if search.last_good is None:
        return _narrowest(search, bad, ("there is no good stage to compare with",))
    good = TracedStage(*trace_stage(search.last_good, validation.inputs, validation.expected, request))
    only_inputs = all(verdict.passed or verdict.is_input for verdict in search.first_bad.verdicts)
    writer = _writer_of_input(search.first_bad, bad)
    suspect = (writer if only_inputs else None) or _suspect(good, bad) or writer
    if suspect is None:
        return _narrowest(search, bad, ("no recorded value differs from those of the last good stage",))
    return _divergence(search, good, bad, suspect)


def _suspect(good: TracedStage, bad: TracedStage) -> Suspect | None:
    failure = bad.trace.failure
    if failure is not None and failure.place is not None:
        return Blame(Matching(good, bad)).failing(Place(failure.place.function, failure.place.path))
    for closeness in (ROUNDED, EXACT):
        suspect = Blame(Matching(good, bad, closeness)).suspect()
        if suspect is not None:
            return suspect
    return None


def _writer_of_input(result: StageResult, bad: TracedStage) -> Suspect | None:
    """The statement that writes to an input which the program only reads."""
    for verdict in result.verdicts:
        found = bad.trace.changed_by.get(verdict.name) if verdict.is_input and not verdict.passed else None
        if found is not None:
            place, _ = bad.change(found)
            made = (one for one in bad.series if one.place == place and one.kind in ("write", "value"))
            series = next(made, None)
            return Suspect(
                place, series, reasons=[f"it writes to {verdict.name}, which the program only reads"]
            )
    return None


def _divergence(search: StageSearch, good: TracedStage, bad: TracedStage, suspect: Suspect) -> Divergence:
    assert search.first_bad is not None and search.last_good is not None
    failure = bad.trace.failure
    left, right = _value(good, suspect.good), _value(bad, suspect.bad)
    cell = worst_cell(right, left) if left is not None and right is not None else None
    reasons = list(suspect.reasons)
    is_failing = failure is not None and failure.place is not None
    kind: Kind = "statement"
    if is_failing and failure is not None and failure.place is not None:
        if (failure.place.function, failure.place.path) == (suspect.place.function, suspect.place.path):
            kind = "rejected"
        reasons.append(f"the script fails: {failure.text.splitlines()[0]}")
    home = good if suspect.is_of_good else bad
    series, record = (
        (suspect.good_series, suspect.good) if suspect.is_of_good else (suspect.series, suspect.bad)
    )
    partner = suspect.good_series
    return Divergence(
        first_bad=search.first_bad.stage.name,
        last_good=search.last_good.name,
        search=search.method,
        kind=kind,
        place=_place(home, suspect.place, series, record),
        place_stage=search.last_good.name if suspect.is_of_good else search.first_bad.stage.name,
        good_place=None if partner is None else _place(good, partner.place, partner, suspect.good),
        good=None if left is None else value_summary(left, suspect.good, cell),
        bad=None if right is None else value_summary(right, suspect.bad, cell),
        evidence=tuple(reasons),
        writer=None if suspect.writer is None else _place(bad, suspect.writer, None, None),
    )


def _value(stage: TracedStage, record: TraceRecord | None) -> Comparable | None:
    return None if record is None else stage.value(record)


def _place(
    stage: TracedStage, place: Place, series: Series | None, record: TraceRecord | None
) -> StatementPlace:
    if record is None and series is not None:
        record = series.first
    if record is not None:
        found = stage.trace.place(record)
        if found.path == place.path and found.function == place.function:
            if series is None or series.kind != "write" or record.site == series.site:
                return found
            return replace(found, variable=stage.trace.sites[series.site].variable)  # of a nested write
    return statement_place(stage, place)


def _narrowest(search: StageSearch, bad: TracedStage, reasons: tuple[str, ...]) -> Divergence:
    """The last statement that writes a wrong tensor, or only the tensor."""
    assert search.first_bad is not None
    verdicts = [verdict for verdict in search.first_bad.verdicts if not verdict.passed]
    name = verdicts[0].name if verdicts else ""
    writes = [
        series
        for series in bad.series
        if series.kind == "write" and user_name(bad.trace.sites[series.site].target) == user_name(name)
    ]
    failure = bad.trace.failure
    kind: Kind = "kernel" if writes else "tensor"
    place = _place(bad, writes[-1].place, writes[-1], None) if writes else StatementPlace("")
    if failure is not None:
        reasons = (*reasons, f"the script fails: {failure.text.splitlines()[0]}")
        if failure.place is not None:
            kind, place = "rejected", failure.place
    return Divergence(
        first_bad=search.first_bad.stage.name,
        last_good="" if search.last_good is None else search.last_good.name,
        search=search.method,
        kind=kind,
        place=place,
        place_stage=search.first_bad.stage.name,
        tensor=name,
        cells=_cells(verdicts),
        evidence=reasons,
    )


def _cells(verdicts: list[TensorVerdict]) -> str:
    lines = list(verdicts[0].shape.lines()) if verdicts and verdicts[0].shape is not None else []
    where = [line for line in lines if line.startswith("where:")]
    place = (where or lines or [""])[0].removeprefix("where: ")
    if not verdicts or not verdicts[0].wrong_by_rank:
        return place
    return ", ".join([ranks_line(verdicts[0].wrong_by_rank), *([place] if place else [])])
