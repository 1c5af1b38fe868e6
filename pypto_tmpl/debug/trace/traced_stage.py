"""A traced stage as the search for a divergence sees it: series of values, each of one statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import inputs_of, located_statements, windowed_operand
from pypto_tmpl.debug.trace.records import Trace, TraceRecord
from pypto_tmpl.debug.trace.value_match import Comparable
from pypto_tmpl.execution.entry import functions_of, user_name
from pypto_tmpl.ops import facts

RESULTS = frozenset({"value", "operand", "argument", "loop", "condition", "write", "push"})


def writes_tensor(op: str) -> bool:
    """Whether an op of that name, given without its namespace, changes a tensor in global memory."""
    return op in facts.short_names("writes_tensor")


@dataclass(frozen=True, slots=True)
class Place:
    """A statement: its function and its path in there."""

    function: str
    path: str


@dataclass(slots=True, eq=False)
class Series:
    """The values that one statement gave for one name, in the order of the run, lane by lane.

    ``wording`` are the names and numbers in the statement, in order.
    """

    site: int
    part: int | None
    kind: str
    place: Place
    op: str
    name: str
    settings: str
    wording: tuple[str, ...] = ()
    by_lane: dict[str, list[TraceRecord]] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The user's part of the name: what passes add to a name follows two underscores."""
        return self.name.split("__")[0]

    def __len__(self) -> int:
        return max(map(len, self.by_lane.values()))

    @property
    def first(self) -> TraceRecord:
        """The earliest value."""
        return min((records[0] for records in self.by_lane.values()), key=lambda record: record.order)

    def records(self) -> Iterator[TraceRecord]:
        """All values, lane by lane."""
        for records in self.by_lane.values():
            yield from records


class TracedStage:
    """The trace of a stage with the program that it is of."""

    def __init__(self, trace: Trace, node: ir.Program | ir.Function) -> None:
        self.trace = trace
        self.node = node
        self.functions = {function.name: function for function in functions_of(node)}
        self.statements = {
            Place(function.name, path): stmt
            for function in functions_of(node)
            for path, stmt in located_statements(function.body)
        }
        self._values: dict[int, Comparable] = {}
        self._rank = {id(record): number for number, record in enumerate(trace.records)}
        self._ends: dict[tuple[int, ...], int] = {}
        for record in trace.records:
            self._ends[record.order[:-1]] = max(record.order[-1], self._ends.get(record.order[:-1], 0))
        self.series = list(self._with_nested_writes(list(self._found_series(RESULTS))))
        self.inputs = {series.place: series for series in self._found_inputs()}
        self.memory = self._found_memory()

    def value(self, record: TraceRecord) -> Comparable | None:
        """The valid part of a recorded value; None if it was left out."""
        found = self._values.get(id(record))
        if found is None:
            region = record.region()
            if region is None:
                return None
            found = self._values[id(record)] = Comparable.of(region)
        return found

    def change(self, number: int) -> tuple[Place, tuple[int, ...]]:
        """The statement that made a change of memory, and the loop variables around it."""
        number_of_site, at = self.trace.changes[number - 1]
        site = self.trace.sites[number_of_site]
        return Place(site.function, site.path), at

    def rank(self, record: TraceRecord) -> int:
        """The position of a record in the order of the run."""
        return self._rank[id(record)]

    def progress(self, record: TraceRecord) -> tuple[float, ...]:
        """When a value was made, for lanes that run at the same time: by how much of its lane was done."""
        order = record.order
        found: list[float] = []
        for end in range(1, len(order) + 1, 2):
            share = self._ends.get(order[: end - 1], order[end - 1])
            lane = float(order[end - 2]) if end > 1 else 0.0
            found += [order[end - 1] / share if end > 1 else float(order[end - 1]), lane]
        return tuple(found)

    def _found_series(self, kinds: frozenset[str]) -> Iterator[Series]:
        found: dict[tuple[int, int | None], Series] = {}
        for record in self.trace.records:
            site = self.trace.sites[record.site]
            if site.kind not in kinds:
                continue
            key = (record.site, record.part)
            series = found.get(key)
            if series is None:
                place = Place(site.function, site.path)
                op, settings = self._op(place, site.kind, site.target)
                name = user_name(self.trace.variable(record))
                wording = tuple(self._wording(place))
                series = found[key] = Series(*key, site.kind, place, op, name, settings, wording)
            series.by_lane.setdefault(record.lane, []).append(record)
        yield from found.values()

    def _op(self, place: Place, kind: str, target: str) -> tuple[str, str]:
        """What a statement does, and with which settings."""
        stmt = self.statements.get(place)
        if kind == "operand":
            return target.rpartition(".")[2], ""
        if kind in ("argument", "loop", "condition"):
            return kind, ""
        value = getattr(stmt, "value", getattr(stmt, "expr", None))
        if isinstance(value, ir.Call) and not isinstance(value.op, ir.GlobalVar):
            settings = sorted((key, str(value.kwargs[key])) for key in value.kwargs)
            return value.op.name.rpartition(".")[2], repr(settings)
        if isinstance(value, ir.Call | ir.Submit):
            return "call", ""
        if isinstance(value, ir.TupleGetItemExpr):
            return "item", ""
        return ("scalar" if isinstance(stmt, ir.AssignStmt) else type(stmt).__name__), ""

    def _with_nested_writes(self, many: list[Series]) -> Iterator[Series]:
        """Writes of a value without a name are told by the whole tensor: take what is written instead."""
        operands = {found.place: found for found in many if found.kind == "operand"}  # the outermost is last
        for series in many:
            source = operands.get(series.place)
            is_write = series.kind == "value" and writes_tensor(series.op)
            if is_write and source is not None and not self._has_nested_target(series.place):
                yield replace(series, kind="write", by_lane=source.by_lane)
            else:
                yield series

    def _has_nested_target(self, place: Place) -> bool:
        call = getattr(self.statements[place], "value", None)
        if not isinstance(call, ir.Call):
            return False
        position = windowed_operand(call)
        return position is not None and isinstance(call.args[position], ir.Call)

    def _wording(self, place: Place) -> Iterator[str]:
        stmt = self.statements.get(place)
        value = getattr(stmt, "value", getattr(stmt, "expr", None))
        for node in ir.walk(value) if isinstance(value, ir.Expr) else ():
            if isinstance(node, ir.Var):
                yield user_name(node.name_hint)
            elif isinstance(node, ir.ConstInt | ir.ConstFloat | ir.ConstBool):
                yield str(node.value)
            elif isinstance(node, ir.Call | ir.Submit):
                yield node.op.name

    def _found_inputs(self) -> Iterator[InputSeries]:
        found: dict[Place, InputSeries] = {}
        for record in self.trace.records:
            site = self.trace.sites[record.site]
            if site.kind != "inputs" or record.part is None:
                continue
            place = Place(site.function, site.path)
            series = found.setdefault(place, InputSeries(place, inputs_of(self.statements[place])))
            runs = series.by_lane[record.lane]
            if not runs or record.part in runs[-1]:
                runs.append({})
            runs[-1][record.part] = record
        yield from found.values()

    def _found_memory(self) -> dict[Place, dict[int, dict[str, list[TraceRecord]]]]:
        """For each statement that reads tensors in memory what was recorded of them, by site and lane."""
        found: dict[Place, dict[int, dict[str, list[TraceRecord]]]] = defaultdict(dict)
        for number, site in enumerate(self.trace.sites):
            if site.kind == "memory":
                found[Place(site.function, site.path)][number] = defaultdict(list)
        for record in self.trace.records:
            site = self.trace.sites[record.site]
            if site.kind == "memory":
                found[Place(site.function, site.path)][record.site][record.lane].append(record)
        return dict(found)

    @cached_property
    def definitions(self) -> dict[int, Place]:
        """The statement that binds each variable, by identity; a parameter has the empty path."""
        found: dict[int, Place] = {}
        for place, stmt in self.statements.items():
            if isinstance(stmt, ir.AssignStmt):
                found[id(stmt.var)] = place
            elif isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt):
                bound = [*stmt.return_vars, *getattr(stmt, "iter_args", ())]
                if isinstance(stmt, ir.ForStmt):
                    bound.append(stmt.loop_var)
                found |= {id(var): place for var in bound}
        for function in self.functions.values():
            for param in function.params:
                found.setdefault(id(param), Place(function.name, ""))
        return found


@dataclass(slots=True, eq=False)
class InputSeries:
    """What a statement has read: for each lane and run the records by position."""

    place: Place
    leaves: list[ir.Expr | None]
    by_lane: dict[str, list[dict[int, TraceRecord]]] = field(default_factory=lambda: defaultdict(list))
