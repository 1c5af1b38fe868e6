"""Comparing two traces value by value, matched by the names that the user gave."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors, worst_difference
from pypto_tmpl.debug.trace.matching import Matching
from pypto_tmpl.debug.trace.records import Trace, TraceRecord
from pypto_tmpl.debug.trace.traced_stage import Series, TracedStage
from pypto_tmpl.debug.trace.value_match import Comparable, part_of
from pypto_tmpl.execution.statement_place import StatementPlace

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A value that differs between two traces: its runs in both, and the verdict on the first such pair."""

    name: str
    left: StatementPlace
    right: StatementPlace
    verdict: TensorVerdict


@dataclass(slots=True)
class NameRow:
    """What became of one name: how many of its values were compared, how many differ, the largest difference.

    ``note`` says why not all values were compared, or why they differ if it is not by their cells.
    """

    name: str
    function: str
    compared: int = 0
    differing: int = 0
    max_abs_diff: float = 0.0
    note: str = ""


@dataclass(slots=True)
class TraceDiff:
    """The names of both traces in the order of the second, and the first value that differs."""

    rows: list[NameRow] = field(default_factory=list)
    first: ValueDifference | None = None

    @property
    def is_same(self) -> bool:
        """Whether every name is in both traces with the same values."""
        return not any(row.differing or row.note for row in self.rows)


def diff_traces(left: Trace, right: Trace, rules: Rules) -> TraceDiff:
    """Compare the values of two traces, statement by statement and run by run.

    Statements correspond as in the search for the first wrong one: names that passes have given say little.
    Runs match in order, lane by lane. Only valid regions count, and for writes the place they go to.
    Raises: ValueError for a trace without its program.
    """
    if left.node is None or right.node is None:
        raise ValueError("a trace is without its program: record it anew")
    matching = Matching(TracedStage(left, left.node), TracedStage(right, right.node))
    found = _Rows(matching, rules)
    for series in matching.bad.series:
        if _is_shown(series):
            found.add(series)
    for series in matching.lost():
        if _is_shown(series):
            found.row(series).note = "only in the first"
    return TraceDiff(list(found.rows.values()), None if found.first is None else found.first[1])


def _is_shown(series: Series) -> bool:
    return bool(series.name) and series.kind != "push"


class _Rows:
    """The rows of a comparison by name, and the first value that differs."""

    def __init__(self, matching: Matching, rules: Rules) -> None:
        self.matching, self.rules = matching, rules
        self.rows: dict[_Key, NameRow] = {}
        self.first: tuple[tuple[int, ...], ValueDifference] | None = None

    def row(self, series: Series) -> NameRow:
        """The row of a name."""
        key = (series.kind, series.name, series.place.function)
        return self.rows.setdefault(key, NameRow(series.name, series.place.function))

    def add(self, series: Series) -> None:
        """Compare the values of a statement with those of the one that corresponds to it."""
        row, match = self.row(series), self.matching.match(series)
        if match.partner is None:
            known = ", with values that the first has" if match.state == "found" else ""
            row.note = f"only in the second{known}"
            return
        pairs = self.matching.pairs(series)
        counts = len(list(match.partner.records())), len(list(series.records()))
        if match.length and counts[0] != counts[1]:
            row.note = f"{counts[0]} values in the first, {counts[1]} in the second"
        for bad, good in pairs:
            self._compare(row, bad, good)

    def _compare(self, row: NameRow, bad: TraceRecord, good: TraceRecord) -> None:
        values = self.matching.good.value(good), self.matching.bad.value(bad)
        if values[0] is None or values[1] is None:
            row.note = "some values were left out"
            return
        row.compared += 1
        verdict = self._verdict(row.name, bad, good, values[1], values[0])
        if verdict.passed:
            return
        row.differing += 1
        row.note = row.note or verdict.reason
        row.max_abs_diff = worst_difference([row.max_abs_diff, verdict.max_abs_diff])
        if self.first is None or bad.order < self.first[0]:
            left, right = self.matching.good.trace.place(good), self.matching.bad.trace.place(bad)
            self.first = (bad.order, ValueDifference(row.name, left, right, verdict))

    def _verdict(
        self, name: str, bad: TraceRecord, good: TraceRecord, value: Comparable, other: Comparable
    ) -> TensorVerdict:
        """The verdict on a value; of a lane's part of one, on that part."""
        whole, window = other.tensor, good.window
        if value.tensor.shape != whole.shape and self.matching.stands_in(bad, good):
            offsets = part_of(value, other)
            if offsets is None:  # the same cells in another shape
                whole = whole.reshape(value.tensor.shape)
            else:
                extents = (1,) * (whole.dim() - value.tensor.dim()) + tuple(value.tensor.shape)
                cells = tuple(slice(o, o + n) for o, n in zip(offsets, extents, strict=True))
                whole = whole[cells].reshape(value.tensor.shape)
                if window is not None and len(window) == len(offsets):
                    window = tuple(map(sum, zip(window, offsets, strict=True)))
        verdict = compare_tensors(name, value.tensor, whole, self.rules)
        if verdict.passed and window != bad.window:
            reason = f"the same values go to {_offsets(bad.window)}, not to {_offsets(window)}"
            verdict = replace(verdict, passed=False, reason=reason)
        return verdict


def _offsets(window: tuple[int, ...] | None) -> str:
    return "a place that is not known" if window is None else str(list(window))
