"""Where values of a traced stage come from: what statements read, calls hand over and loops carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import located_statements
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import InputSeries, Place, Series, TracedStage
from pypto_tmpl.execution.entry import user_name
from pypto_tmpl.ir.bodies import last_of

CallSite = tuple[tuple[str, str, int], tuple[Place, dict[str, str]]]


def calls_of(stage: TracedStage) -> Iterator[CallSite]:
    """Calls by caller, callee and number; each with its arguments, names of variables by parameter."""
    counts: Counter[tuple[str, str]] = Counter()
    for place, stmt in stage.statements.items():
        call = getattr(stmt, "value", getattr(stmt, "expr", None))
        if not isinstance(call, ir.Call | ir.Submit) or call.op.name not in stage.functions:
            continue
        callee = stage.functions[call.op.name]
        pair = (place.function, callee.name)
        names = {
            user_name(param.name_hint): user_name(arg.name_hint)
            for param, arg in zip(callee.params, call.args, strict=False)
            if isinstance(arg, ir.Var)
        }
        yield (*pair, counts[pair]), (place, names)
        counts[pair] += 1


def run_before(stage: TracedStage, inputs: InputSeries, record: TraceRecord) -> dict[int, TraceRecord]:
    """What a statement read in the run that made ``record``."""
    found: dict[int, TraceRecord] = {}
    for run in inputs.by_lane.get(record.lane, []):
        if stage.rank(next(iter(run.values()))) > stage.rank(record):
            break
        found = run
    return found


def paired_leaves(leaves: list[ir.Expr | None], others: list[ir.Expr | None]) -> dict[int, int]:
    """Inputs of two statements that correspond: those of one name, then those at the same position."""

    def named(found: list[ir.Expr | None]) -> list[tuple[int, str]]:
        return [(i, user_name(leaf.name_hint)) for i, leaf in enumerate(found) if isinstance(leaf, ir.Var)]

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


def last_before(stage: TracedStage, series: Series, record: TraceRecord) -> TraceRecord | None:
    """The last value of a series before another record of the same lane."""
    found = None
    for candidate in series.by_lane.get(record.lane) or list(series.records()):
        if stage.rank(candidate) >= stage.rank(record):
            break
        found = candidate
    return found


def counterpart(series: Series, partner: Series, record: TraceRecord) -> TraceRecord | None:
    records = series.by_lane.get(record.lane, [])
    others = partner.by_lane.get(record.lane) or next(iter(partner.by_lane.values()))
    number = next((i for i, candidate in enumerate(records) if candidate is record), None)
    return others[number] if number is not None and number < len(others) else None


def last_yield(body: ir.Stmt, path: str) -> tuple[str, ir.YieldStmt] | None:
    """The yield that ends a body, with its path."""
    for place, stmt in reversed(list(located_statements(body, path))):
        if isinstance(stmt, ir.YieldStmt):
            return place, stmt
    return None


def yielded(stmt: ir.Stmt, number: int) -> Iterator[ir.Expr]:
    """What the yields of a loop or branch hand on as its value of a number, then what a loop starts with."""
    for body in (
        getattr(stmt, "body", None),
        getattr(stmt, "then_body", None),
        getattr(stmt, "else_body", None),
    ):
        last = None if body is None else last_of(body, (ir.ScopeStmt,))
        if isinstance(last, ir.YieldStmt) and number < len(last.value):
            yield last.value[number]
    iter_args = getattr(stmt, "iter_args", ())
    if number < len(iter_args):
        yield iter_args[number].initValue
