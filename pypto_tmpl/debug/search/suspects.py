"""Statements that are wrong by what they are, not by a value: loops, calls, pipes, and what got lost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.debug.search.data_flow import calls_of, yielded
from pypto_tmpl.debug.trace.matching import Matching
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import Place, Series, writes_tensor
from pypto_tmpl.execution.entry import user_name
from pypto_tmpl.ops import facts


@dataclass(slots=True)
class Suspect:
    """A statement that is to blame: of the bad stage, or of the good one if the bad one lacks it.

    ``writer`` is another statement of the bad stage that has overwritten what this one reads, or that writes
    it too late.
    """

    place: Place
    series: Series | None = None
    bad: TraceRecord | None = None
    good_series: Series | None = None
    good: TraceRecord | None = None
    is_of_good: bool = False
    reasons: list[str] = field(default_factory=list)
    writer: Place | None = None


class StructureSuspects:
    """Suspects among the statements that say how often something happens, on what, and how tiles are cut."""

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.good, self.bad = matching.good, matching.bad
        self._by_place: dict[Place, list[Series]] = defaultdict(list)
        for series in self.bad.series:
            self._by_place[series.place].append(series)
        self._partners = matching.partners()

    def leading_to(self, function: str) -> set[str]:
        """A function and all that call it, in however many steps."""
        found = {function}
        calls = [(caller, callee) for (caller, callee, _), _ in calls_of(self.bad)]
        while more := {caller for caller, callee in calls if callee in found} - found:
            found |= more
        return found

    def changed_call(self, function: str | None = None) -> Suspect | None:
        """A call whose arguments are other variables than in the good stage."""
        before = dict(calls_of(self.good))
        for (caller, callee, number), (place, arguments) in calls_of(self.bad):
            known = before.get((caller, callee, number))
            if known is None or (function is not None and callee not in self.leading_to(function)):
                continue
            for parameter, argument in arguments.items():
                was = known[1].get(parameter, argument)
                if was != argument and argument in known[1].values():
                    reason = f"it hands over {argument} as {parameter}, not {was}"
                    series = next(iter(self._by_place[place]), None)
                    return Suspect(place, series, reasons=[reason])
        return None

    def crossed_call(self, function: str | None = None) -> Suspect | None:
        """A call from where the good stage has none that hands over two variables as each other.

        Parameters of a function that a pass has cut out of another are named as what they stand for.
        """
        before = list(calls_of(self.good))
        known = {(caller, callee) for (caller, callee, _), _ in before}
        crossed = {callee for (_, callee, _), (_, arguments) in before if _crossed(arguments)}
        for (caller, callee, _), (place, arguments) in calls_of(self.bad):
            if (caller, callee) in known or callee in crossed:
                continue
            if function is not None and callee not in self.leading_to(function):
                continue
            for parameter, argument in _crossed(arguments).items():
                series = next(iter(self._by_place[place]), None)
                return Suspect(place, series, reasons=[f"it hands over {argument} as {parameter}"])
        return None

    def unmatched_pipe(self, place: Place) -> Suspect | None:
        """Of the pushes and pops of the kernel around ``place``, the one that cuts tiles unlike the rest."""
        stmt = self.bad.statements.get(place)
        call = getattr(stmt, "value", getattr(stmt, "expr", None))
        if not isinstance(call, ir.Call) or not facts.of_value(call).is_transfer:
            return None
        splits: dict[Place, int] = {}
        for other, candidate in self.bad.statements.items():
            found = getattr(candidate, "value", getattr(candidate, "expr", None))
            if _kernel(other.function) != _kernel(place.function):
                continue
            if isinstance(found, ir.Call) and facts.of_value(found).is_transfer:
                splits[other] = int(found.kwargs.get("split") or 0)
        votes = Counter(splits.values())
        for function in self.bad.functions.values():
            split = function.attrs.get("split") if _kernel(function.name) == _kernel(place.function) else None
            if isinstance(split, ir.SplitMode | int):
                votes[int(split.value if isinstance(split, ir.SplitMode) else split)] += 1
        usual = votes.most_common(1)[0][0]
        odd = [other for other, split in splits.items() if split != usual]
        if not odd:
            return None
        chosen = place if place in odd else odd[0]
        reason = f"it has split={splits[chosen]}, the other ends of the pipes have split={usual}"
        series = next(iter(self._by_place[chosen]), None)
        return Suspect(chosen, series, reasons=[reason])

    def longer_or_shorter(self) -> Suspect | None:
        """The first loop that takes other rounds, if anything happens more or less often."""
        if not any(self.matching.match(series).length for series in self.bad.series):
            return None
        for series in sorted(self.bad.series, key=lambda series: self.bad.rank(series.first)):
            found = self.loop(series.place, set()) if series.kind == "loop" else None
            if found is not None:
                return found
        return None

    def loop_around(self, place: Place) -> Suspect | None:
        """The innermost loop around a statement whose variable takes other values than in the good stage."""
        parts = place.path.split("/")
        for end in range(len(parts), 0, -1):
            outer = Place(place.function, "/".join(parts[:end]))
            if isinstance(self.bad.statements.get(outer), ir.ForStmt):
                found = self.loop(outer, set())
                if found is not None:
                    return found
        return None

    def loops_around(self, place: Place) -> list[Place]:
        """The loops around a statement and around the calls of its function."""
        parts = place.path.split("/")
        outer = [Place(place.function, "/".join(parts[:end])) for end in range(1, len(parts))]
        callers = self.leading_to(place.function) - {place.function}
        for caller, stmt in self.bad.statements.items():
            call = getattr(stmt, "value", getattr(stmt, "expr", None))
            if isinstance(call, ir.Call | ir.Submit) and call.op.name in {place.function, *callers}:
                parts = caller.path.split("/")
                outer += [Place(caller.function, "/".join(parts[:end])) for end in range(1, len(parts))]
        return [loop for loop in outer if isinstance(self.bad.statements.get(loop), ir.ForStmt)]

    def loop(self, place: Place, seen: set[Place]) -> Suspect | None:
        """A loop whose variable takes other values than in the good stage, or one around it."""
        for outer in self.loops_around(place):
            found = None if outer in seen else self.loop(outer, {*seen, place})
            if found is not None:
                return found
        for series in self._by_place[place]:
            match = self.matching.match(series)
            if series.kind == "loop" and match.state != "same":
                reason = _rounds(series, match.partner)
                seen.add(place)
                return Suspect(place, series, match.bad, match.partner, match.good, reasons=[reason])
        return None

    def lost_write(self) -> Suspect | None:
        for series in self.matching.lost():
            if series.kind == "write" or writes_tensor(series.op):
                reason = "no statement of the bad stage writes this"
                return Suspect(series.place, None, None, series, series.first, True, [reason])
        return None

    def lost_carry(self, place: Place, number: int, var: ir.Var) -> Suspect | None:
        """The statement that made a carried value in the good stage, if the bad one has none like it."""
        partner = self._partners.get(place)
        stmt = None if partner is None else self.good.statements[partner]
        if not isinstance(stmt, ir.ForStmt):
            return None
        makers = {self.good.definitions.get(id(source)) for source in yielded(stmt, number)}
        for series in self.matching.lost():
            is_alike = series.kind == "value" and series.name == user_name(var.name_hint)
            if series.place in makers or is_alike:
                reason = "no statement of the bad stage makes this value, which a loop carries"
                if series.kind == "condition":
                    reason = "the bad stage has no such branch, and a loop carries what it binds"
                return Suspect(series.place, None, None, series, series.first, True, [reason])
        return None


def _kernel(function: str) -> str:
    """The kernel that a function is, or is a core's part of."""
    return function.removesuffix("_aic").removesuffix("_aiv")


def _crossed(arguments: dict[str, str]) -> dict[str, str]:
    """Of the arguments by parameter those that are named as another parameter of the call."""
    return {name: given for name, given in arguments.items() if given != name and given in arguments}


def _rounds(series: Series, partner: Series | None) -> str:
    def told(found: Series) -> str:
        values = [str(record.value) for record in next(iter(found.by_lane.values()))]
        return f"{', '.join(values[:6])}{', ...' if len(values) > 6 else ''} ({len(values)} rounds)"

    was = f"; it took {told(partner)}" if partner is not None else ""
    return f"its variable takes the values {told(series)}{was}"
