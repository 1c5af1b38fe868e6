"""Which values of a bad stage are wrong, given how they match those of a good one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.debug.search.suspects import StructureSuspects
from pypto_tmpl.debug.trace.matching import Match, Matching
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import Place, Series
from pypto_tmpl.debug.trace.value_match import part_of, same
from pypto_tmpl.ops import facts, load_table

# What comes out of these was made by other statements.
_DERIVED = {"call", "item", "ForStmt", "WhileStmt", "IfStmt"}


def is_undefined(op: str) -> bool:
    """Whether an op, given without its namespace, makes a buffer: what that holds is nobody's fault."""
    return op in facts.short_names("allocates", "reserves")


def push_of(op: str) -> str | None:
    """The push at the other end of the pipe that an op pops from, both without namespace."""
    known = facts.of(f"tile.{op}")
    pushes = (name for name in load_table() if facts.of(name).is_push_to(known.pipe_to))
    return next(pushes).rpartition(".")[2] if known.pipe_end == "pop" else None


class WrongValues(StructureSuspects):
    """The values of the bad stage that are to be followed back."""

    def __init__(self, matching: Matching) -> None:
        super().__init__(matching)
        self._readers = self._found_readers()

    def _wrong(self) -> Iterator[tuple[Series, Match]]:
        for series in self.bad.series:
            match = self.matching.match(series)
            if series.kind == "loop" or series.op in _DERIVED or match.length:
                continue
            if match.state == "differs" and (match.partner is None or not is_undefined(match.partner.op)):
                yield series, match
            if series.kind == "write" and match.partner is not None:
                moved = self._moved_write(series, match.partner)
                if moved is not None:
                    yield series, moved

    def _first_wrong_in(self, function: str, seen: set[Place]) -> tuple[Series, Match] | None:
        """The first wrong value that a function made itself, and did not get out of a pipe."""
        found = [
            (series, match)
            for series, match in self._wrong()
            if series.place.function == function
            and series.place not in seen
            and series.kind != "push"
            and push_of(series.op) is None
            and not self._is_harmless(series)
        ]
        return min(found, key=lambda pair: self.bad.rank(record_of(pair[1])), default=None)

    def _moved_write(self, series: Series, partner: Series) -> Match | None:
        """The first write of the right values to another place than in the good stage."""
        for lane, records in series.by_lane.items():
            others = partner.by_lane.get(lane) or next(iter(partner.by_lane.values()))
            for bad, good in zip(records, others, strict=False):
                value, whole = self.bad.value(bad), self.good.value(good)
                if bad.window is None or good.window is None or value is None or whole is None:
                    continue
                offsets = (0,) * len(good.window)
                if not same(value, whole):
                    offsets = part_of(value, whole) or offsets
                if len(bad.window) != len(good.window) or len(offsets) != len(good.window):
                    continue
                expected = tuple(a + b for a, b in zip(good.window, offsets, strict=True))
                if bad.window != expected:
                    return Match("differs", partner, bad, good, moved=expected)
        return None

    def _is_harmless(self, series: Series) -> bool:
        """Whether all that reads a value is as it was: then it only looks wrong."""
        readers = self._readers.get(series.place, [])
        results = [found for place in readers for found in self._by_place[place]]
        return bool(results) and all(map(self.matching.is_exact, results))

    def _found_readers(self) -> dict[Place, list[Place]]:
        readers: dict[Place, list[Place]] = defaultdict(list)
        for place, inputs in self.bad.inputs.items():
            for leaf in inputs.leaves:
                if isinstance(leaf, ir.Var) and id(leaf) in self.bad.definitions:
                    readers[self.bad.definitions[id(leaf)]].append(place)
        return readers


def record_of(match: Match) -> TraceRecord:
    """The record of the bad stage that a match is about."""
    assert match.bad is not None
    return match.bad
