"""Comparing two traces value by value, matched by the names that the user gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pypto_tmpl.debug.comparison import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.debug.divergence import StatementPlace
from pypto_tmpl.debug.entry import base_name
from pypto_tmpl.debug.trace import CALLER, Trace, TraceRecord
from pypto_tmpl.debug.value_match import Comparable

_Key = tuple[str, str]
_Runs = dict[str, list[TraceRecord]]


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
    """Compare the values of two traces, name by name and run by run.

    Names match without what passes add to them, whatever the function they are in; runs match in order, lane
    by lane. Only valid regions count, and for writes the place they go to.
    """
    ours, theirs = _by_name(left), _by_name(right)
    found = TraceDiff()
    first: tuple[tuple[int, ...], ValueDifference] | None = None
    for key in dict.fromkeys([*theirs, *ours]):
        present = theirs.get(key) or ours[key]
        record = next(iter(present.values()))[0]
        row = NameRow(key[1], (right if key in theirs else left).sites[record.site].function)
        found.rows.append(row)
        if key not in ours or key not in theirs:
            row.note = "only in the second" if key in theirs else "only in the first"
            continue
        for one, other in _pairs(ours[key], theirs[key], row):
            values = (_value(one), _value(other))
            if values[0] is None or values[1] is None:
                row.note = "some values were left out"
                continue
            row.compared += 1
            verdict = compare_tensors(key[1], values[1].tensor, values[0].tensor, rules)
            if verdict.passed and one.window != other.window:
                reason = f"the same values go to {_offsets(other)}, not to {_offsets(one)}"
                verdict = replace(verdict, passed=False, reason=reason)
            if verdict.passed:
                continue
            row.differing += 1
            row.note = row.note or verdict.reason
            row.max_abs_diff = max(row.max_abs_diff, verdict.max_abs_diff)
            if first is None or other.order < first[0]:
                difference = ValueDifference(key[1], left.place(one), right.place(other), verdict)
                first = (other.order, difference)
    found.first = None if first is None else first[1]
    return found


def _by_name(trace: Trace) -> dict[_Key, _Runs]:
    found: dict[_Key, _Runs] = defaultdict(lambda: defaultdict(list))
    for record in trace.records:
        kind = trace.sites[record.site].kind
        name = trace.variable(record)
        if name and kind not in ("inputs", "push", "parameter"):
            found[kind, base_name(name)][record.lane].append(record)
    return found


def _pairs(ours: _Runs, theirs: _Runs, row: NameRow) -> Iterator[tuple[TraceRecord, TraceRecord]]:
    for lane, records in theirs.items():
        others = ours.get(lane) or ours.get(CALLER) or next(iter(ours.values()))
        if len(others) != len(records):
            row.note = f"{len(others)} values in the first, {len(records)} in the second"
        yield from zip(others, records, strict=False)


def _offsets(record: TraceRecord) -> str:
    return "a place that is not known" if record.window is None else str(list(record.window))


def _value(record: TraceRecord) -> Comparable | None:
    region = record.region()
    return None if region is None else Comparable.of(region)
