"""Which statements made the cells in memory that a statement reads, in the good stage and in the bad one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from pypto_tmpl import ir
from pypto_tmpl.compare.rule import wrong_elements
from pypto_tmpl.compare.tolerance import EXACT
from pypto_tmpl.debug.search.suspects import Suspect
from pypto_tmpl.debug.trace.matching import Matching
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import Place, TracedStage
from pypto_tmpl.execution.entry import user_name

_Change = tuple[Place, tuple[int, ...]]
"""The statement that changed a cell, and the loop variables around it."""


@dataclass(frozen=True, slots=True)
class Misread:
    """A tensor that is read when its cells are not those that the good stage reads: what ``writer`` did.

    ``is_early`` tells that it writes them after the read, else it has overwritten them.
    """

    tensor: str
    writer: Place
    is_early: bool


class MemoryFlow:
    """Looks for the writes behind what statements read from tensors in memory."""

    def __init__(self, matching: Matching) -> None:
        self.good, self.bad = matching.good, matching.bad
        self._bad_places: dict[Place, list[Place]] = {}
        for place, partner in matching.partners().items():
            self._bad_places.setdefault(partner, []).append(place)

    def misread(self, suspect: Suspect) -> Misread | None:
        """The read of a suspect that comes too early or too late; None if other writes are not the reason."""
        if suspect.bad is None or suspect.good is None or suspect.good_series is None:
            return None
        here = self._reads(self.bad, suspect.place, suspect.bad)
        there = self._reads(self.good, suspect.good_series.place, suspect.good)
        if len(here) != len(there):
            return None
        wrong = self._wrong_cells(suspect)
        for tensor, numbers in here.items():
            found = self._judged(tensor, numbers, list(there.values())[list(here).index(tensor)], wrong)
            if found is not None:
                return found
        return None

    def _reads(self, stage: TracedStage, place: Place, record: TraceRecord) -> dict[str, torch.Tensor | None]:
        """What made the cells of each tensor that the run of a statement read, by the tensor's name."""
        found: dict[str, torch.Tensor | None] = {}
        for site, lanes in stage.memory.get(place, {}).items():
            earlier = [one for one in lanes.get(record.lane, []) if stage.rank(one) < stage.rank(record)]
            value = earlier[-1].value if earlier else None
            found[stage.trace.sites[site].variable] = value if isinstance(value, torch.Tensor) else None
        return found

    def _wrong_cells(self, suspect: Suspect) -> torch.Tensor | None:
        """Which cells of the value differ, if it has the shape of the good one."""
        assert suspect.bad is not None and suspect.good is not None
        one, other = self.bad.value(suspect.bad), self.good.value(suspect.good)
        if one is None or other is None or one.tensor.shape != other.tensor.shape:
            return None
        return wrong_elements(one.tensor, other.tensor, EXACT, equal_nan=True)

    def _judged(
        self,
        tensor: str,
        here: torch.Tensor | None,
        there: torch.Tensor | None,
        wrong: torch.Tensor | None,
    ) -> Misread | None:
        pairs = Counter(zip(_numbers(here, wrong), _numbers(there, wrong), strict=False))
        if here is None or there is None:  # nothing has written to the tensor in one of the stages
            pairs = Counter(
                (number, 0) if there is None else (0, number)
                for number in _numbers(here if there is None else there, wrong)
            )
        for (bad, good), _ in pairs.most_common():
            found = self._pair_judged(tensor, bad, good)
            if found is not None:
                return found
        return None

    def _pair_judged(self, tensor: str, bad: int, good: int) -> Misread | None:
        made, wanted = _change(self.bad, bad), _change(self.good, good)
        if wanted is None:
            return None if made is None else Misread(tensor, made[0], False)
        places = self._bad_places.get(wanted[0]) or list(self._alike(wanted[0]))
        if not places:
            return None  # it got lost
        if made is not None and made[0] in places:
            return Misread(tensor, made[0], True) if len(places) == 1 and made[1] != wanted[1] else None
        before = {place for place, _ in map(self.bad.change, range(1, bad))}
        if made is not None and before & set(places):
            return Misread(tensor, made[0], False)
        return Misread(tensor, places[0], True)

    def _alike(self, place: Place) -> Iterator[Place]:
        """Statements of the bad stage that write to the same tensor by the same op as a good one."""
        wanted = _written(self.good, place)
        for other, _ in dict.fromkeys(map(self.bad.change, range(1, len(self.bad.trace.changes) + 1))):
            if other.function == place.function and _written(self.bad, other) == wanted:
                yield other


def _numbers(numbers: torch.Tensor | None, cells: torch.Tensor | None) -> list[int]:
    if numbers is None:
        return []
    is_chosen = cells is not None and cells.shape == numbers.shape
    return [int(number) for number in (numbers[cells] if is_chosen else numbers.reshape(-1)).tolist()]


def _change(stage: TracedStage, number: int) -> _Change | None:
    return stage.change(number) if number else None


def _written(stage: TracedStage, place: Place) -> tuple[str, str]:
    """The op of a statement that writes to memory, and the name of the tensor."""
    stmt = stage.statements.get(place)
    value = getattr(stmt, "value", getattr(stmt, "expr", None))
    op = value.op.name if isinstance(value, ir.Call) else ""
    sites = (site for site in stage.trace.sites if (site.function, site.path) == (place.function, place.path))
    return op, next((user_name(site.variable) for site in sites if site.kind == "change"), "")
