"""Which values of two stages correspond, and which of them agree.

Statements are paired in steps. First those that a pass has left as they were, whatever their values, then
those of the same name and op, or of any name, whose values are all the same, then loops that a pass has
unrolled, where several statements together give what one gave. What is left on both sides is paired by
likeness: op, name, settings. Those pairs differ. What has no partner is looked for among all values of the
other stage, also as a part of one, since passes split and tile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pypto_tmpl.debug.trace.records import CALLER, TraceRecord
from pypto_tmpl.debug.trace.series_likeness import (
    candidates,
    grouped,
    is_one_name,
    is_one_variable,
    likeness,
    merged,
    numbered,
)
from pypto_tmpl.debug.trace.traced_stage import Place, Series, TracedStage
from pypto_tmpl.debug.trace.value_match import EXACT, ROUNDED, Closeness, Comparable, part_of, same

State = Literal["same", "differs", "found", "unknown"]
_Pair = tuple[TraceRecord, TraceRecord]
_LIKE_ENOUGH = 4
_VECTOR_LANES = ("aiv0", "aiv1")


@dataclass(slots=True)
class Match:
    """What became of a series: the series that it corresponds to, and the first pair that differs.

    ``length`` tells that all pairs agree, but one side goes on; ``moved`` is where a write of the right
    value should go to, as offsets.
    """

    state: State
    partner: Series | None = None
    bad: TraceRecord | None = None
    good: TraceRecord | None = None
    length: bool = False
    moved: tuple[int, ...] | None = None


class Matching:
    """The correspondence between the values of a good stage and those of a bad one."""

    def __init__(self, good: TracedStage, bad: TracedStage, closeness: Closeness = ROUNDED) -> None:
        self.good, self.bad, self.closeness = good, bad, closeness
        self.of: dict[int, Match] = {}  # by identity of a series of the bad stage
        self._taken: set[int] = set()
        self._rounds: dict[int, list[_Pair]] = {}  # of series that several of the other stage correspond to
        self._by_wording()
        self._by_name()
        self._by_values()
        self._by_merging()
        self._by_likeness(lambda series, partner: series.op == partner.op)
        self._by_search(only_found=True)
        self._by_likeness(is_one_name)
        self._by_search()

    # Results

    def match(self, series: Series) -> Match:
        """What became of a series of the bad stage."""
        return self.of[id(series)]

    def pairs(self, series: Series) -> list[_Pair]:
        """The values of a series of the bad stage, each with the one of the good stage it corresponds to."""
        partner = self.match(series).partner
        if id(series) in self._rounds or partner is None:
            return self._rounds.get(id(series), [])
        return _zipped(series, partner)

    def stands_in(self, bad: TraceRecord, good: TraceRecord) -> bool:
        """Whether a lane's value is a part of the whole one."""
        return self._same_place(bad, good, bad.lane in _VECTOR_LANES, self.closeness, None) is not None

    def is_exact(self, series: Series) -> bool:
        """Whether all values of a series are those of its partner to the last bit."""
        match = self.match(series)
        if match.state != "same" or match.partner is None:
            return False
        exact = self.compare(series, match.partner, EXACT)
        return exact is not None and exact.state == "same"

    def partners(self) -> dict[Place, Place]:
        """Statements of the bad stage with those of the good one that they correspond to."""
        found: dict[Place, Place] = {}
        for series in self.bad.series:
            partner = self.of[id(series)].partner
            if partner is not None:
                found.setdefault(series.place, partner.place)
        return found

    def lost(self) -> list[Series]:
        """Series of the good stage to which none of the bad one corresponds."""
        return [series for series in self.good.series if id(series) not in self._taken]

    def is_known(self, value: Comparable) -> bool:
        """Whether the good stage has a value, by itself or as a part of another."""
        return any(same(value, other, self.closeness) for other in self._of_size(value)) or any(
            part_of(value, other, self.closeness) is not None for other in self._larger(value)
        )

    # Steps

    def _left(self) -> list[Series]:
        return [series for series in self.bad.series if id(series) not in self.of]

    def _free(self) -> list[Series]:
        return [series for series in self.good.series if id(series) not in self._taken]

    def _accept(self, series: Series, partner: Series, match: Match) -> None:
        self.of[id(series)] = match
        self._taken.add(id(partner))

    def _by_wording(self) -> None:
        def key(series: Series) -> Any:
            return series.place.function, series.kind, series.op, series.name, series.wording

        for left, right in grouped(self._left(), self._free(), key):
            if len(left) == len(right):
                for series, partner in zip(left, right, strict=True):
                    match = self.compare(series, partner) if series.wording else None
                    if match is not None:
                        self._accept(series, partner, match)

    def _by_name(self) -> None:
        def key(series: Series) -> Any:
            return series.kind, series.op, series.name

        for left, right in grouped(self._left(), self._free(), key):
            if len(left) == len(right):
                for series, partner in zip(left, right, strict=True):
                    match = self.compare(series, partner)
                    if match is not None and match.state == "same":
                        self._accept(series, partner, match)

    def _by_values(self) -> None:
        left = [series for series in self._left() if _is_tensor(self.bad, series)]
        free = [partner for partner in self._free() if _is_tensor(self.good, partner)]
        places = numbered(self.bad.series) | numbered(self.good.series)
        found = []
        for i, series in enumerate(left):
            for j, partner in enumerate(candidates(series, free)):
                match = self.compare(series, partner)
                if match is not None and match.state == "same":
                    apart = abs(places[id(series)] - places[id(partner)])
                    found.append((-likeness(series, partner), apart, i, j, series, partner, match))
        for *_, series, partner, match in sorted(found, key=lambda pair: pair[:4]):
            if id(series) not in self.of and id(partner) not in self._taken:
                self._accept(series, partner, match)

    def _by_merging(self) -> None:
        def key(series: Series) -> Any:
            return series.kind, series.op, series.stem

        for left, right in grouped(self._left(), self._free(), key):
            if len(left) + len(right) == 2:
                continue
            whole, partner = merged(left), merged(right)
            match = self.compare(whole, partner)
            if match is not None and match.state == "same":
                for series in left:
                    self._accept(series, right[0], Match("same", right[0]))
                    self._note_rounds(series, whole, partner)
                self._taken |= {id(partner) for partner in right}
            elif match is not None and not match.length and len(right) == 1:
                self._unrolled(left, right[0])

    def _unrolled(self, left: list[Series], partner: Series) -> None:
        """Pair statements that together run as often as one did, round by round, even if values differ."""
        whole = merged(left)
        if any(len(records) != len(_lane_of(partner, lane) or ()) for lane, records in whole.by_lane.items()):
            return
        for series in left:
            self._note_rounds(series, whole, partner)
            worst: Match | None = None
            for bad, good in self._rounds[id(series)]:
                if worst is None and self._same_place(bad, good, False, self.closeness, None) is None:
                    worst = Match("differs", partner, bad, good)
            self._accept(series, partner, worst or Match("same", partner))

    def _note_rounds(self, series: Series, whole: Series, partner: Series) -> None:
        own = set(map(id, series.records()))
        self._rounds[id(series)] = [pair for pair in _zipped(whole, partner) if id(pair[0]) in own]

    def _by_likeness(self, may_pair: Callable[[Series, Series], bool]) -> None:
        free = self._free()
        scored = [
            (likeness(series, partner), -abs(i / max(1, len(left)) - j / max(1, len(free))), i, j)
            for left in [self._left()]
            for i, series in enumerate(left)
            for j, partner in enumerate(free)
        ]
        left = self._left()
        for score, _, i, j in sorted(scored, reverse=True):
            series, partner = left[i], free[j]
            if score < _LIKE_ENOUGH or id(series) in self.of or id(partner) in self._taken:
                continue
            if not may_pair(series, partner):
                continue
            match = self.compare(series, partner)
            if match is not None:
                self._accept(series, partner, match)

    def _by_search(self, only_found: bool = False) -> None:
        for series in self._left():
            unknown = next((r for r in series.records() if not self._is_found(r)), None)
            if only_found and (unknown is not None or not _is_tensor(self.bad, series)):
                continue
            if only_found and any(is_one_variable(series, partner) for partner in self._free()):
                continue
            self.of[id(series)] = Match("found") if unknown is None else Match("unknown", bad=unknown)

    def _is_found(self, record: TraceRecord) -> bool:
        value = self.bad.value(record)
        return value is None or value.tensor.dim() == 0 or self.is_known(value)

    def _of_size(self, value: Comparable) -> list[Comparable]:
        return self._index[value.tensor.numel()]

    def _larger(self, value: Comparable) -> Iterator[Comparable]:
        for size, found in self._index.items():
            if size > value.tensor.numel() > 1:
                yield from found

    @property
    def _index(self) -> dict[int, list[Comparable]]:
        if not hasattr(self, "_sizes"):
            self._sizes: dict[int, list[Comparable]] = defaultdict(list)
            seen = set()
            for record in self.good.trace.records:
                value = self.good.value(record)
                if value is not None and value.tensor.dim() and value.key() not in seen:
                    seen.add(value.key())
                    self._sizes[value.tensor.numel()].append(value)
        return self._sizes

    # Comparison of two series

    def compare(self, series: Series, partner: Series, closeness: Closeness | None = None) -> Match | None:
        """How two series agree, None if their lanes do not correspond."""
        closeness = closeness or self.closeness
        worst: Match | None = None
        longer = False
        offsets: dict[int, tuple[int, ...]] = {}
        for lane, records in series.by_lane.items():
            others = _lane_of(partner, lane)
            if others is None:
                return None
            has_lanes = len(series.by_lane) == 2 or self.bad.trace.failure is not None  # or one never began
            is_split = lane in _VECTOR_LANES and has_lanes and len(partner.by_lane) == 1
            for number, (bad, good) in enumerate(zip(records, others, strict=False)):
                place = self._same_place(bad, good, is_split, closeness, offsets.get(number))
                if place is not None:
                    offsets[number] = place
                else:
                    earlier = worst is None or self.bad.rank(bad) < self.bad.rank(_bad(worst))
                    worst = Match("differs", partner, bad, good) if earlier else worst
                    break
            is_shorter = len(records) < len(others)
            is_cut = is_shorter and self.bad.trace.failure is not None
            if len(records) != len(others) and worst is None and not is_cut:
                longer = True
                bad = records[min(len(records), len(others) + 1) - 1]
                good = others[min(len(others), len(records) + 1) - 1]
                worst = Match("differs", partner, bad, good, length=True)
        return worst or Match("same", partner, length=longer)

    def _same_place(
        self,
        bad: TraceRecord,
        good: TraceRecord,
        is_split: bool,
        closeness: Closeness,
        taken: tuple[int, ...] | None,
    ) -> tuple[int, ...] | None:
        """Where a value stands in the other: () if they are the same, None if it does not.

        A lane has not the part that is ``taken`` by the other one.
        """
        one, other = self.bad.value(bad), self.good.value(good)
        if one is None or other is None or same(one, other, closeness):
            return ()
        return part_of(one, other, closeness, taken) if is_split else None


def _zipped(series: Series, partner: Series) -> list[_Pair]:
    return [
        pair
        for lane, records in series.by_lane.items()
        for pair in zip(records, _lane_of(partner, lane) or [], strict=False)
    ]


def _bad(match: Match) -> TraceRecord:
    assert match.bad is not None
    return match.bad


def _lane_of(series: Series, lane: str) -> list[TraceRecord] | None:
    """The values of a lane, or of what stands for it in a stage that has other lanes."""
    for name in (lane, CALLER, "aiv0", "aic"):
        if name in series.by_lane:
            return series.by_lane[name]
    return None


def _is_tensor(stage: TracedStage, series: Series) -> bool:
    value = stage.value(series.first)
    return value is not None and value.tensor.dim() > 0
