"""Which statement of a bad stage made the first wrong value, given how its values match those of a good one.

A value that differs from its partner is followed back: the statement that made it is to blame if all it read
is as it was in the good stage, else whatever made the first of its inputs that is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.debug.search.cuts import wrong_cut
from pypto_tmpl.debug.search.data_flow import (
    counterpart,
    last_before,
    last_yield,
    paired_leaves,
    run_before,
    yielded,
)
from pypto_tmpl.debug.search.memory_flow import MemoryFlow
from pypto_tmpl.debug.search.shared_buffers import taken_over
from pypto_tmpl.debug.search.suspects import Suspect
from pypto_tmpl.debug.search.variable_flow import VariableFlow
from pypto_tmpl.debug.search.wrong_values import WrongValues, is_undefined, push_of, record_of
from pypto_tmpl.debug.trace.matching import Match, Matching
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import InputSeries, Place, Series, TracedStage
from pypto_tmpl.debug.trace.value_match import Comparable, part_of, same
from pypto_tmpl.execution.entry import user_name


class _Input(NamedTuple):
    """An input that is not as it was: what is said of it, and what the good stage reads in its place."""

    leaf: ir.Expr
    value: TraceRecord
    reason: str
    wanted: Comparable | None = None
    good: TraceRecord | None = None
    good_leaf: ir.Expr | None = None


class Blame(WrongValues):
    """Follows wrong values back to the statement that made the first of them."""

    def __init__(self, matching: Matching) -> None:
        super().__init__(matching)
        self.memory = MemoryFlow(matching)
        self.variables, self._good_variables = VariableFlow(self.bad), VariableFlow(self.good)

    def suspect(self) -> Suspect | None:
        """The statement to blame; None if every value of the bad stage is as in the good one."""
        wrong = sorted(self._wrong(), key=lambda found: self.bad.progress(record_of(found[1])))
        for series, match in wrong:
            if not self._is_harmless(series):
                return self._blame(series, record_of(match), match, [], set())
        if self.bad.trace.failure is not None:
            return None  # it ended early: what is missing says nothing
        return self.longer_or_shorter() or self.lost_write() or self.changed_call() or self.crossed_call()

    def failing(self, place: Place) -> Suspect:
        """The statement to blame for a failure at ``place``: that one, unless a value before it is wrong."""
        found = self.suspect()
        if found is not None and not found.is_of_good:
            return found
        reason = "the script fails here, and all values before it are as in the good stage"
        return (
            self.unmatched_pipe(place)
            or self.loop_around(place)
            or wrong_cut(self.good, self.bad, place)
            or Suspect(place, reasons=[reason])
        )

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
        if match.moved is not None and record.window is not None:
            reasons.append(f"it writes at {list(record.window)}, not at {list(match.moved)}")
        setting = self._changed_setting(suspect)
        if setting is not None:
            reasons.append(setting)
            return suspect
        handed_on = [] if match.moved is not None else self._handed_on(suspect)
        for found in [*handed_on, *self._changed_inputs(suspect)]:
            return self._input_blamed(suspect, found, seen)
        other = self._changed_memory(suspect)
        if other is not None:
            return other
        if match.moved is None:
            suspect.reasons.append("all that it reads is as in the good stage")
        return suspect

    def _input_blamed(self, suspect: Suspect, found: _Input, seen: set[Place]) -> Suspect:
        """Whatever made an input that is not as it was; the statement that reads it if nothing else did."""
        place = suspect.place
        origin = self._rebound(suspect, found, seen) or self._origin(found.leaf, place, found.value, seen)
        if origin is None and self._is_alias(place, found.leaf):
            origin = self.changed_call(place.function) or self.lost_write()
        if origin is not None:
            return origin
        suspect.reasons.append(found.reason)
        if found.wanted is not None:
            leaf, value = found.leaf, found.value
            suspect.writer = self.variables.overwriting(place.function, leaf, value, found.wanted)
            if suspect.writer is not None:
                suspect.reasons.append(f"{_name(leaf, 0)} has been overwritten")
                return suspect
            suspect.writer = taken_over(self.bad, place, leaf)
            if suspect.writer is not None:
                suspect.reasons.append(f"the buffer of {_name(leaf, 0)} has been overwritten")
        return suspect

    def _rebound(self, suspect: Suspect, found: _Input, seen: set[Place]) -> Suspect | None:
        """What bound a variable last, of several statements: it is wrong, or what did so before got lost."""
        here = self.variables.bindings(suspect.place.function, found.leaf, found.value)
        if not here:
            return None
        if found.good is not None and suspect.good_series is not None:
            function = suspect.good_series.place.function
            there = self._good_variables.bindings(function, found.good_leaf, found.good)
            if there and there[-1][0] in self.matching.lost():
                series, record = there[-1]
                reason = "no statement of the bad stage makes this value"
                return Suspect(series.place, None, None, series, record, True, [reason])
        series, record = here[-1]
        match = self.matching.match(series)
        if match.state != "differs" or match.length or series.place in seen:
            return None
        return self._blame(series, match.bad or record, match, [], seen)

    def _changed_setting(self, suspect: Suspect) -> str | None:
        """What is said of a write that no longer adds to what is there, or does so now."""
        series, partner = suspect.series, suspect.good_series
        if series is None or partner is None or {series.kind, partner.kind} != {"write"}:
            return None
        calls = [_call(stage.statements[one.place]) for stage, one in self._both(series, partner)]
        now, before = (None if call is None else call.kwargs.get("atomic") for call in calls)
        return None if now == before else f"it has {_told_atomic(now)}, the good stage {_told_atomic(before)}"

    def _both(self, series: Series, partner: Series) -> list[tuple[TracedStage, Series]]:
        return [(self.bad, series), (self.good, partner)]

    def _changed_memory(self, suspect: Suspect) -> Suspect | None:
        """What is to blame if a statement reads a tensor in memory that is not as it was.

        That is a call that hands over another tensor, a read before a write or after another one, or a write
        that got lost.
        """
        place = suspect.place
        if place not in self.bad.memory or suspect.series is None or suspect.series.kind == "write":
            return None
        call_suspect = self.changed_call(place.function) or self.crossed_call(place.function)
        if call_suspect is not None:
            return call_suspect
        found = self.memory.misread(suspect)
        if found is None:
            return self.lost_write()
        suspect.writer = found.writer
        how = "is read before another statement writes it" if found.is_early else "has been overwritten"
        suspect.reasons.append(f"{found.tensor} {how}")
        return suspect

    def _is_alias(self, place: Place, leaf: ir.Expr) -> bool:
        """Whether a statement gives a tensor in memory another name: its cells are the doing of writes."""
        stmt = self.bad.statements[place]
        return isinstance(stmt, ir.AssignStmt) and stmt.value is leaf and isinstance(leaf.type, ir.TensorType)

    def _handed_on(self, suspect: Suspect) -> Iterator[_Input]:
        """An input that the statement hands on as it is, so that it is just as wrong."""
        assert suspect.bad is not None
        inputs, own = self.bad.inputs.get(suspect.place), self.bad.value(suspect.bad)
        if inputs is None or own is None or not own.tensor.dim() or self._has_twin(suspect):
            return
        for position, record in run_before(self.bad, inputs, suspect.bad).items():
            leaf, value = inputs.leaves[position], self.bad.value(record)
            if isinstance(leaf, ir.Var) and value is not None and value.key() == own.key():
                wanted = None if suspect.good is None else self.good.value(suspect.good)
                yield _Input(leaf, record, f"it hands on {leaf.name_hint}", wanted)

    def _has_twin(self, suspect: Suspect) -> bool:
        return (
            suspect.series is not None
            and suspect.series.kind != "write"
            and suspect.good_series is not None
            and suspect.series.op == suspect.good_series.op
        )

    def _changed_inputs(self, suspect: Suspect) -> Iterator[_Input]:
        """The inputs of a statement that are not as in the good stage, in the order of the text."""
        assert suspect.bad is not None
        inputs = self.bad.inputs.get(suspect.place)
        if inputs is None:
            return
        run = run_before(self.bad, inputs, suspect.bad)
        twin = self._twin_run(suspect, inputs)
        for position, record in sorted(run.items()):
            leaf = inputs.leaves[position]
            value = self.bad.value(record)
            if leaf is None or value is None:
                continue
            if twin is not None:
                before, other_leaf = twin.get(position, (None, None))
                other = None if before is None else self.good.value(before)
                if other is not None and not self._agree(value, other, record.lane):
                    reason = _changed(leaf, value, other_leaf, other, position)
                    yield _Input(leaf, record, reason, other, before, other_leaf)
            elif value.tensor.dim() and not self.matching.is_known(value):
                reason = f"{_name(leaf, position)} has a value that the good stage has nowhere"
                yield _Input(leaf, record, reason)

    def _twin_run(
        self, suspect: Suspect, inputs: InputSeries
    ) -> dict[int, tuple[TraceRecord, ir.Expr | None]] | None:
        """What the statement that corresponds to a suspect read by position, if it is of the same form."""
        if suspect.good is None or suspect.good_series is None or suspect.series is None:
            return None
        others = self.good.inputs.get(suspect.good_series.place)
        if others is None or suspect.series.op != suspect.good_series.op:
            return None
        if len(others.leaves) != len(inputs.leaves):
            return None
        run = run_before(self.good, others, suspect.good)
        return {
            position: (run[number], others.leaves[number])
            for position, number in paired_leaves(inputs.leaves, others.leaves).items()
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
            return self.loop(place, seen)
        if place is None or place in seen:
            return None
        if not place.path:
            return self._caller(leaf, place.function, value, seen)
        return self._made_or_carried(place, leaf, value, seen)

    def _made(self, place: Place, var: ir.Expr, value: TraceRecord, seen: set[Place]) -> Suspect | None:
        for series in self._by_place[place]:
            match = self.matching.match(series)
            if match.length:
                return self.longer_or_shorter()
            if is_undefined(series.op):
                return None
            own = self._own_partner(series, match)
            if match.state == "same" and own is None:
                return None  # it is right as it is: who reads it should read another
            record = last_before(self.bad, series, value)
            if record is not None and series.kind in ("value", "operand"):
                if match.state == "same" and own is not None:
                    pair = Match("differs", own, record, counterpart(series, own, record))
                    return self._blame(series, record, pair, [], seen)
                if match.state == "found" and self._is_of_its_name(series, record):
                    return None
                pair = match if match.bad is record else Match(match.state, match.partner, record, None)
                if match.partner is not None and pair.good is None:
                    pair.good = counterpart(series, match.partner, record)
                    if pair.good is not None and self._is_same(record, pair.good):
                        return self.loop_around(place)  # right as it is, but from another round
                if match.state == "found" and not self._is_tensor(series):
                    return None
                return self._blame(series, record, pair, [], seen)
        return None

    def _own_partner(self, series: Series, match: Match) -> Series | None:
        """What the good stage has of the name and op of a series whose values are those of another there."""
        if match.partner is None or match.partner.name == series.name:
            return None
        own = (other for other in self.good.series if (other.name, other.op) == (series.name, series.op))
        return next(own, None)

    def _is_of_its_name(self, series: Series, record: TraceRecord) -> bool:
        """Whether the good stage has a value under the same name, whatever makes it there."""
        named = [other for other in self.good.series if other.name == series.name]
        return any(
            good is not None and self._is_same(record, good)
            for good in (counterpart(series, other, record) for other in named)
        )

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
            return self.loop(place, seen)
        carried = [*getattr(stmt, "iter_args", ())]
        returned = [*stmt.return_vars] if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt) else []
        for number, target in [*enumerate(returned), *enumerate(carried)]:
            if target is not var:
                continue
            for source in yielded(stmt, number):
                origin = self.bad.definitions.get(id(source))
                if isinstance(source, ir.Var) and origin is not None and origin not in seen and origin.path:
                    found = self._made_or_carried(origin, source, value, seen)
                    if found is not None:
                        return found
            if isinstance(stmt, ir.ForStmt):
                return self.loop(place, seen) or self.lost_carry(place, number, var)
            chosen = self._wrong_choice(stmt, place, number, value) if isinstance(stmt, ir.IfStmt) else None
            return self._branch(place, seen) or chosen
        return None

    def _wrong_choice(self, stmt: ir.IfStmt, place: Place, number: int, value: TraceRecord) -> Suspect | None:
        """The yield of a branch that hands on a value which is right as it is, but not the one to hand on."""
        series = [one for one in self._by_place[place] if one.kind in ("value", "condition")]
        records = {one.kind: last_before(self.bad, one, value) for one in series}
        condition, own = records.get("condition"), records.get("value")
        if condition is None or own is None or self.bad.value(own) is None:
            return None
        branch, body = ("then", stmt.then_body) if condition.value else ("else", stmt.else_body)
        found = None if body is None else last_yield(body, f"{place.path}/{branch}")
        if found is None or not number < len(found[1].value):
            return None
        source = found[1].value[number]
        made = self.bad.definitions.get(id(source))
        if made is None or any(self.matching.match(one).state != "same" for one in self._by_place[made]):
            return None
        reason = f"it hands on {_name(source, number)}, which is as in the good stage: another value was due"
        return Suspect(Place(place.function, found[0]), reasons=[reason])

    def _made_or_carried(
        self, place: Place, var: ir.Var, value: TraceRecord, seen: set[Place]
    ) -> Suspect | None:
        stmt = self.bad.statements[place]
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt):
            seen.add(place)
            return self._carried(stmt, var, place, value, seen)
        return self._made(place, var, value, seen)

    def _branch(self, place: Place, seen: set[Place]) -> Suspect | None:
        for series in self._by_place[place]:
            match = self.matching.match(series)
            if series.kind == "condition" and match.state == "differs":
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
        push_op = push_of(series.op)
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
                earlier = self._first_wrong_in(push.place.function, seen)
                if earlier is not None:
                    return self._blame(earlier[0], record_of(earlier[1]), earlier[1], [], seen)
                last = list(push.records())[-1]
                found = self._origin(tile, push.place, match.bad or last, seen)
                if found is not None:
                    return found
        return self.unmatched_pipe(series.place)


def _changed(
    leaf: ir.Expr, value: Comparable, other_leaf: ir.Expr | None, other: Comparable, position: int
) -> str:
    """What is said of an input that is not as it was."""
    names = [part.name_hint for part in (leaf, other_leaf) if isinstance(part, ir.Var)]
    if len(set(map(user_name, names))) == 2:
        return f"it reads {names[0]} where it read {names[1]}"
    if value.tensor.dim() and value.tensor.shape == other.tensor.shape:
        return f"{_name(leaf, position)} has other values than in the good stage"
    return f"it reads {_short(value)} as {_name(leaf, position)}, not {_short(other)}"


def _name(leaf: ir.Expr, position: int) -> str:
    return leaf.name_hint if isinstance(leaf, ir.Var) else f"operand {position}"


def _short(value: Comparable) -> str:
    return str(value.tensor.item()) if value.tensor.dim() == 0 else f"a tensor {list(value.tensor.shape)}"


def _call(stmt: ir.Stmt) -> ir.Call | None:
    value = getattr(stmt, "value", getattr(stmt, "expr", None))
    return value if isinstance(value, ir.Call) else None


def _told_atomic(value: object) -> str:
    return f"atomic={ir.AtomicType(value).name}" if isinstance(value, int) else "no atomic"
