"""Which statement of a bad stage made the first wrong value, given how its values match those of a good one.

A value that differs from its partner is followed back: the statement that made it is to blame if all it read
is as it was in the good stage, else whatever made the first of its inputs that is not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.debug.entry import base_name
from pypto_tmpl.debug.trace import TraceRecord
from pypto_tmpl.debug.trace_matching import Match, Matching
from pypto_tmpl.debug.traced_stage import InputSeries, Place, Series, TracedStage
from pypto_tmpl.debug.value_match import Comparable, part_of, same

# What comes out of these was made by other statements.
_DERIVED = {"call", "item", "ForStmt", "WhileStmt", "IfStmt"}
_GLOBAL_WRITES = {"store", "assemble", "write", "mscatter", "scatter_update"}
_PUSH_OF = {"tpop_from_aic": "tpush_to_aiv", "tpop_from_aiv": "tpush_to_aic"}


@dataclass(slots=True)
class Suspect:
    """A statement that is to blame: of the bad stage, or of the good one if the bad one lacks it."""

    place: Place
    series: Series | None = None
    bad: TraceRecord | None = None
    good_series: Series | None = None
    good: TraceRecord | None = None
    is_of_good: bool = False
    reasons: list[str] = field(default_factory=list)


class Blame:
    """Follows wrong values back to the statement that made the first of them."""

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.good, self.bad = matching.good, matching.bad
        self._by_place: dict[Place, list[Series]] = defaultdict(list)
        for series in self.bad.series:
            self._by_place[series.place].append(series)
        self._partners = matching.partners()
        self._readers = self._found_readers()

    def suspect(self) -> Suspect | None:
        """The statement to blame; None if every value of the bad stage is as in the good one."""
        wrong = sorted(self._wrong(), key=lambda found: self.bad.progress(_record(found[1])))
        for series, match in wrong:
            if not self._is_harmless(series):
                return self._blame(series, _record(match), match, [], set())
        if self.bad.trace.failure is not None:
            return None  # it ended early: what is missing says nothing
        return self._longer_or_shorter() or self._lost_write() or self._changed_call()

    def failing(self, place: Place) -> Suspect:
        """The statement to blame for a failure at ``place``: that one, unless a value before it is wrong."""
        found = self.suspect()
        if found is not None and not found.is_of_good:
            return found
        reason = "the script fails here, and all values before it are as in the good stage"
        return self._unmatched_pipe(place) or self._loop_around(place) or Suspect(place, reasons=[reason])

    # Wrong values

    def _wrong(self) -> Iterator[tuple[Series, Match]]:
        for series in self.bad.series:
            match = self.matching.match(series)
            if series.kind == "loop" or series.op in _DERIVED or match.length:
                continue
            if match.state == "differs":
                yield series, match
            if series.kind == "write" and match.partner is not None:
                moved = self._moved_write(series, match.partner)
                if moved is not None:
                    yield series, moved

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
                    return Match("differs", partner, bad, good)
        return None

    def _is_harmless(self, series: Series) -> bool:
        """Whether all that reads a value is as it was: then it only looks wrong."""
        readers = self._readers.get(series.place, [])
        states = [self.matching.match(s).state for place in readers for s in self._by_place[place]]
        return bool(states) and all(state == "same" for state in states)

    def _leading_to(self, function: str) -> set[str]:
        """A function and all that call it, in however many steps."""
        found = {function}
        calls = [(caller, callee) for (caller, callee, _), _ in _calls(self.bad)]
        while more := {caller for caller, callee in calls if callee in found} - found:
            found |= more
        return found

    def _found_readers(self) -> dict[Place, list[Place]]:
        readers: dict[Place, list[Place]] = defaultdict(list)
        for place, inputs in self.bad.inputs.items():
            for leaf in inputs.leaves:
                if isinstance(leaf, ir.Var) and id(leaf) in self.bad.definitions:
                    readers[self.bad.definitions[id(leaf)]].append(place)
        return readers

    # Following a value back

    def _blame(
        self, series: Series, record: TraceRecord, match: Match, reasons: list[str], seen: set[Place]
    ) -> Suspect:
        place = series.place
        seen.add(place)
        suspect = Suspect(place, series, record, match.partner, match.good, reasons=reasons)
        if series.kind == "parameter":
            return suspect
        pipe = self._blame_pipe(series, record, seen)
        if pipe is not None:
            return pipe
        for leaf, value, reason in [*self._handed_on(suspect), *self._changed_inputs(suspect)]:
            origin = self._origin(leaf, place, value, seen)
            if origin is not None:
                return origin
            suspect.reasons.append(reason)
            return suspect
        other = self._changed_memory(place)
        if other is not None:
            return other
        suspect.reasons.append("all that it reads is as in the good stage")
        return suspect

    def _changed_memory(self, place: Place) -> Suspect | None:
        """What is to blame if a statement reads a tensor in memory that is not as it was.

        That is a call that hands over another tensor, or a write that got lost.
        """
        stmt = self.bad.statements[place]
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if not isinstance(call, ir.Call) or call.op.name not in ("tile.load", "tensor.slice", "tensor.read"):
            return None
        return self._changed_call(place.function) or self._lost_write()

    def _changed_call(self, function: str | None = None) -> Suspect | None:
        """A call whose arguments are other variables than in the good stage."""
        before = dict(_calls(self.good))
        for (caller, callee, number), (place, arguments) in _calls(self.bad):
            known = before.get((caller, callee, number))
            if known is None or (function is not None and callee not in self._leading_to(function)):
                continue
            for parameter, argument in arguments.items():
                was = known[1].get(parameter, argument)
                if was != argument and argument in known[1].values():
                    reason = f"it hands over {argument} as {parameter}, not {was}"
                    series = next(iter(self._by_place[place]), None)
                    return Suspect(place, series, reasons=[reason])
        return None

    def _handed_on(self, suspect: Suspect) -> Iterator[tuple[ir.Expr, TraceRecord, str]]:
        """An input that the statement hands on as it is, so that it is just as wrong."""
        assert suspect.bad is not None
        inputs, own = self.bad.inputs.get(suspect.place), self.bad.value(suspect.bad)
        if inputs is None or own is None or not own.tensor.dim() or self._has_twin(suspect):
            return
        for position, record in _run_before(self.bad, inputs, suspect.bad).items():
            leaf, value = inputs.leaves[position], self.bad.value(record)
            if isinstance(leaf, ir.Var) and value is not None and value.key() == own.key():
                yield leaf, record, f"it hands on {leaf.name_hint}"

    def _has_twin(self, suspect: Suspect) -> bool:
        return (
            suspect.series is not None
            and suspect.good_series is not None
            and suspect.series.op == suspect.good_series.op
        )

    def _changed_inputs(self, suspect: Suspect) -> Iterator[tuple[ir.Expr, TraceRecord, str]]:
        """The inputs of a statement that are not as in the good stage, in the order of the text."""
        assert suspect.bad is not None
        inputs = self.bad.inputs.get(suspect.place)
        if inputs is None:
            return
        run = _run_before(self.bad, inputs, suspect.bad)
        twin = self._twin_run(suspect, inputs)
        for position, record in sorted(run.items()):
            leaf = inputs.leaves[position]
            value = self.bad.value(record)
            if leaf is None or value is None:
                continue
            if twin is not None:
                other = self.good.value(twin[position]) if position in twin else None
                if other is not None and not self._agree(value, other, record.lane):
                    yield (
                        leaf,
                        record,
                        f"it reads {_short(value)} as {_name(leaf, position)}, not {_short(other)}",
                    )
            elif value.tensor.dim() and not self.matching.is_known(value):
                yield leaf, record, f"{_name(leaf, position)} has a value that the good stage has nowhere"

    def _twin_run(self, suspect: Suspect, inputs: InputSeries) -> dict[int, TraceRecord] | None:
        """What the statement that corresponds to a suspect read, if it is of the same form."""
        if suspect.good is None or suspect.good_series is None or suspect.series is None:
            return None
        others = self.good.inputs.get(suspect.good_series.place)
        if others is None or suspect.series.op != suspect.good_series.op:
            return None
        if len(others.leaves) != len(inputs.leaves):
            return None
        run = _run_before(self.good, others, suspect.good)
        return {
            position: run[number]
            for position, number in _paired_leaves(inputs.leaves, others.leaves).items()
            if number in run
        }

    def _agree(self, value: Comparable, other: Comparable, lane: str) -> bool:
        if same(value, other, self.matching.closeness):
            return True
        is_lane = lane.startswith("aiv")
        return is_lane and part_of(value, other, self.matching.closeness) is not None

    def _origin(self, leaf: ir.Expr, reader: Place, value: TraceRecord, seen: set[Place]) -> Suspect | None:
        """What is to blame for a wrong input; None if that is the statement that reads it."""
        if not isinstance(leaf, ir.Var):
            return None
        place = self.bad.definitions.get(id(leaf))
        stmt = None if place is None else self.bad.statements.get(place)
        if place is not None and isinstance(stmt, ir.ForStmt) and stmt.loop_var is leaf:
            return self._loop(place, seen)
        if place is None or place in seen:
            return None
        if not place.path:
            return self._caller(leaf, place.function, value, seen)
        return self._made_or_carried(place, leaf, value, seen)

    def _made(self, place: Place, var: ir.Expr, value: TraceRecord, seen: set[Place]) -> Suspect | None:
        for series in self._by_place[place]:
            match = self.matching.match(series)
            if match.length:
                return self._longer_or_shorter()
            if match.state == "same":
                return None  # it is right as it is: who reads it should read another
            record = _last_before(self.bad, series, value)
            if record is not None and series.kind in ("value", "operand"):
                pair = match if match.bad is record else Match(match.state, match.partner, record, None)
                if match.partner is not None and pair.good is None:
                    pair.good = _counterpart(series, match.partner, record)
                    if pair.good is not None and self._is_same(record, pair.good):
                        return self._loop_around(place)  # right as it is, but from another round
                if match.state == "found" and not self._is_tensor(series):
                    return None
                return self._blame(series, record, pair, [], seen)
        return None

    def _is_same(self, bad: TraceRecord, good: TraceRecord) -> bool:
        one, other = self.bad.value(bad), self.good.value(good)
        return one is not None and other is not None and same(one, other, self.matching.closeness)

    def _is_tensor(self, series: Series) -> bool:
        value = self.bad.value(series.first)
        return value is not None and value.tensor.dim() > 0

    def _carried(
        self, stmt: ir.Stmt, var: ir.Var, place: Place, value: TraceRecord, seen: set[Place]
    ) -> Suspect | None:
        """A value that comes out of a loop or branch, or is carried from round to round, or counts them."""
        if isinstance(stmt, ir.ForStmt) and var is stmt.loop_var:
            return self._loop(place, seen)
        carried = [*getattr(stmt, "iter_args", ())]
        returned = [*stmt.return_vars] if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt) else []
        for number, target in [*enumerate(returned), *enumerate(carried)]:
            if target is not var:
                continue
            for source in _yielded(stmt, number):
                origin = self.bad.definitions.get(id(source))
                if isinstance(source, ir.Var) and origin is not None and origin not in seen and origin.path:
                    found = self._made_or_carried(origin, source, value, seen)
                    if found is not None:
                        return found
            if isinstance(stmt, ir.ForStmt):
                return self._loop(place, seen) or self._lost_carry(place, number)
            return self._branch(place, seen)
        return None

    def _lost_carry(self, place: Place, number: int) -> Suspect | None:
        """The statement that made a carried value in the good stage, if the bad one has none like it."""
        partner = self._partners.get(place)
        stmt = None if partner is None else self.good.statements[partner]
        if not isinstance(stmt, ir.ForStmt):
            return None
        lost = {series.place: series for series in self.matching.lost()}
        for source in _yielded(stmt, number):
            series = lost.get(self.good.definitions.get(id(source), place))
            if series is not None:
                reason = "no statement of the bad stage makes this value, which a loop carries"
                return Suspect(series.place, None, None, series, series.first, True, [reason])
        return None

    def _made_or_carried(
        self, place: Place, var: ir.Var, value: TraceRecord, seen: set[Place]
    ) -> Suspect | None:
        stmt = self.bad.statements[place]
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt):
            seen.add(place)
            return self._carried(stmt, var, place, value, seen)
        return self._made(place, var, value, seen)

    def _loop(self, place: Place, seen: set[Place]) -> Suspect | None:
        """A loop whose variable takes other values than in the good stage, or one around it."""
        for outer in self._loops_around(place):
            found = None if outer in seen else self._loop(outer, {*seen, place})
            if found is not None:
                return found
        for series in self._by_place[place]:
            match = self.matching.match(series)
            if series.kind == "loop" and match.state != "same":
                reason = _rounds(series, match.partner)
                seen.add(place)
                return Suspect(place, series, match.bad, match.partner, match.good, reasons=[reason])
        return None

    def _loops_around(self, place: Place) -> list[Place]:
        """The loops around a statement and around the calls of its function."""
        parts = place.path.split("/")
        outer = [Place(place.function, "/".join(parts[:end])) for end in range(1, len(parts))]
        callers = self._leading_to(place.function) - {place.function}
        for caller, stmt in self.bad.statements.items():
            call = getattr(stmt, "value", getattr(stmt, "expr", None))
            if isinstance(call, ir.Call | ir.Submit) and call.op.name in {place.function, *callers}:
                parts = caller.path.split("/")
                outer += [Place(caller.function, "/".join(parts[:end])) for end in range(1, len(parts))]
        return [loop for loop in outer if isinstance(self.bad.statements.get(loop), ir.ForStmt)]

    def _branch(self, place: Place, seen: set[Place]) -> Suspect | None:
        for series in self._by_place[place]:
            match = self.matching.match(series)
            if series.kind == "condition" and match.state != "same":
                reason = "its condition holds where it did not, or the other way round"
                return self._blame(series, match.bad or series.first, match, [reason], seen)
        return None

    def _caller(self, param: ir.Var, function: str, value: TraceRecord, seen: set[Place]) -> Suspect | None:
        """A parameter: what the calling statements hand over for it."""
        callee = self.bad.functions[function]
        position = next((i for i, var in enumerate(callee.params) if var is param), -1)
        for place, stmt in self.bad.statements.items():
            call = getattr(stmt, "value", getattr(stmt, "expr", None))
            if not isinstance(call, ir.Call | ir.Submit) or call.op.name != function or place in seen:
                continue
            argument = call.args[position] if 0 <= position < len(call.args) else None
            if isinstance(argument, ir.Var):
                return self._origin(argument, place, value, seen)
            for series in self._by_place[place]:
                match = self.matching.match(series)
                if series.kind == "argument" and match.state == "differs":
                    reason = f"it hands over another number for {series.name}"
                    return Suspect(place, series, match.bad, match.partner, match.good, reasons=[reason])
        return None

    # Pipes

    def _blame_pipe(self, series: Series, record: TraceRecord, seen: set[Place]) -> Suspect | None:
        """What is to blame for a wrong tile out of a pipe: what was pushed, or how it was cut."""
        push_op = _PUSH_OF.get(series.op)
        if push_op is None:
            return None
        for push in self.bad.series:
            match = self.matching.match(push)
            if push.op != push_op or push.kind != "push" or push.place in seen:
                continue
            seen.add(push.place)
            stmt = self.bad.statements[push.place]
            tile = (
                stmt.expr.args[0]
                if isinstance(stmt, ir.EvalStmt) and isinstance(stmt.expr, ir.Call)
                else None
            )
            if match.state != "same" and tile is not None:
                last = list(push.records())[-1]
                found = self._origin(tile, push.place, match.bad or last, seen)
                if found is not None:
                    return found
        return self._unmatched_pipe(series.place)

    def _unmatched_pipe(self, place: Place) -> Suspect | None:
        """Of the pushes and pops around ``place``, the one that cuts tiles in another way than the rest."""
        stmt = self.bad.statements.get(place)
        call = getattr(stmt, "value", getattr(stmt, "expr", None))
        if not isinstance(call, ir.Call) or not call.op.name.startswith(("tile.tpush_", "tile.tpop_")):
            return None
        splits: dict[Place, int] = {}
        for other, candidate in self.bad.statements.items():
            found = getattr(candidate, "value", getattr(candidate, "expr", None))
            if isinstance(found, ir.Call) and found.op.name.startswith(("tile.tpush_", "tile.tpop_")):
                splits[other] = int(found.kwargs.get("split") or 0)
        votes = Counter(splits.values())
        for function in self.bad.functions.values():
            split = function.attrs.get("split")
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

    # Statements that run more or less often, or not at all

    def _longer_or_shorter(self) -> Suspect | None:
        """The first loop that takes other rounds, if anything happens more or less often."""
        if not any(self.matching.match(series).length for series in self.bad.series):
            return None
        for series in sorted(self.bad.series, key=lambda series: self.bad.rank(series.first)):
            found = self._loop(series.place, set()) if series.kind == "loop" else None
            if found is not None:
                return found
        return None

    def _loop_around(self, place: Place) -> Suspect | None:
        """The innermost loop around a statement whose variable takes other values than in the good stage."""
        parts = place.path.split("/")
        for end in range(len(parts), 0, -1):
            outer = Place(place.function, "/".join(parts[:end]))
            if isinstance(self.bad.statements.get(outer), ir.ForStmt):
                found = self._loop(outer, set())
                if found is not None:
                    return found
        return None

    def _lost_write(self) -> Suspect | None:
        for series in self.matching.lost():
            if series.kind == "write" or series.op in _GLOBAL_WRITES:
                reason = "no statement of the bad stage writes this"
                return Suspect(series.place, None, None, series, series.first, True, [reason])
        return None


_Call = tuple[tuple[str, str, int], tuple[Place, dict[str, str]]]


def _calls(stage: TracedStage) -> Iterator[_Call]:
    """Calls by caller, callee and number, each with its arguments: names of variables by that of a parameter."""
    counts: Counter[tuple[str, str]] = Counter()
    for place, stmt in stage.statements.items():
        call = getattr(stmt, "value", getattr(stmt, "expr", None))
        callee = stage.functions.get(call.op.name) if isinstance(call, ir.Call | ir.Submit) else None
        if callee is None:
            continue
        pair = (place.function, callee.name)
        names = {
            base_name(param.name_hint): base_name(arg.name_hint)
            for param, arg in zip(callee.params, call.args, strict=False)
            if isinstance(arg, ir.Var)
        }
        yield (*pair, counts[pair]), (place, names)
        counts[pair] += 1


def _record(match: Match) -> TraceRecord:
    assert match.bad is not None
    return match.bad


def _run_before(stage: TracedStage, inputs: InputSeries, record: TraceRecord) -> dict[int, TraceRecord]:
    """What a statement read in the run that made ``record``."""
    found: dict[int, TraceRecord] = {}
    for run in inputs.by_lane.get(record.lane, []):
        if stage.rank(next(iter(run.values()))) > stage.rank(record):
            break
        found = run
    return found


def _paired_leaves(leaves: list[ir.Expr | None], others: list[ir.Expr | None]) -> dict[int, int]:
    """Inputs of two statements that correspond: those of one name, then those at the same position."""

    def named(found: list[ir.Expr | None]) -> list[tuple[int, str]]:
        return [(i, base_name(leaf.name_hint)) for i, leaf in enumerate(found) if isinstance(leaf, ir.Var)]

    pairs: dict[int, int] = {}
    free = dict(enumerate(others))
    for position, name in named(leaves):
        number = next((i for i, other in named(others) if other == name and i in free), None)
        if number is not None:
            pairs[position] = number
            del free[number]
    for position, leaf in enumerate(leaves):
        if position not in pairs and position in free and leaf is not None:
            pairs[position] = position
            del free[position]
    return pairs


def _name(leaf: ir.Expr, position: int) -> str:
    return leaf.name_hint if isinstance(leaf, ir.Var) else f"operand {position}"


def _last_before(stage: TracedStage, series: Series, record: TraceRecord) -> TraceRecord | None:
    """The last value of a series before another record of the same lane."""
    found = None
    for candidate in series.by_lane.get(record.lane) or list(series.records()):
        if stage.rank(candidate) >= stage.rank(record):
            break
        found = candidate
    return found


def _counterpart(series: Series, partner: Series, record: TraceRecord) -> TraceRecord | None:
    records = series.by_lane.get(record.lane, [])
    others = partner.by_lane.get(record.lane) or next(iter(partner.by_lane.values()))
    number = next((i for i, candidate in enumerate(records) if candidate is record), None)
    return others[number] if number is not None and number < len(others) else None


def _yielded(stmt: ir.Stmt, number: int) -> Iterator[ir.Expr]:
    """What the yields of a loop or branch hand on as its value of a number, then what a loop starts with."""
    for body in (
        getattr(stmt, "body", None),
        getattr(stmt, "then_body", None),
        getattr(stmt, "else_body", None),
    ):
        last = body
        while isinstance(last, ir.SeqStmts | ir.ScopeStmt):
            last = last.body if isinstance(last, ir.ScopeStmt) else last.stmts[-1] if last.stmts else None
        if isinstance(last, ir.YieldStmt) and number < len(last.value):
            yield last.value[number]
    iter_args = getattr(stmt, "iter_args", ())
    if number < len(iter_args):
        yield iter_args[number].initValue


def _rounds(series: Series, partner: Series | None) -> str:
    def told(found: Series) -> str:
        values = [str(record.value) for record in next(iter(found.by_lane.values()))]
        return f"{', '.join(values[:6])}{', ...' if len(values) > 6 else ''} ({len(values)} rounds)"

    was = f"; it took {told(partner)}" if partner is not None else ""
    return f"its variable takes the values {told(series)}{was}"


def _short(value: Comparable) -> str:
    return str(value.tensor.item()) if value.tensor.dim() == 0 else f"a tensor {list(value.tensor.shape)}"
