"""The first statement that reads wrong bytes, of a stage that is right by values.

The stage runs twice, by values and on the bytes of its tiles, with every value recorded. Both runs are of one
program, so that their records are of the same statements: the first that reads something else reads bytes
that do not hold its operand. Who has written them says the analysis that ``memory --check`` makes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import located_statements
from pypto_tmpl.debug.search.divergence import Divergence, Kind
from pypto_tmpl.debug.search.summaries import statement_place, value_summary
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.stages.preparation import MisplacedError, Request
from pypto_tmpl.debug.trace.records import Trace, TraceRecord
from pypto_tmpl.debug.trace.run import trace_stage
from pypto_tmpl.debug.trace.traced_stage import Place, TracedStage
from pypto_tmpl.debug.trace.value_match import EXACT, Comparable, same, worst_cell
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.execution.statement_place import StatementPlace, statement_text
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.overwrites import Overwrite, overwrites
from pypto_tmpl.storage.places import FunctionPlaces
from pypto_tmpl.storage.stored import copies_yields, is_placed_at_0

Tensors = Mapping[str, torch.Tensor]
_COMPARED = ("inputs", "value", "operand", "condition", "argument", "push", "write")
_MORE = 3  # overwrites that are told besides


@dataclass(frozen=True, slots=True)
class _Misread:
    """What a statement reads, or leaves, by values and on bytes; ``leaf`` is the operand that it reads."""

    place: Place
    leaf: ir.Expr | None
    values: TraceRecord
    stored: TraceRecord


def misread_on_bytes(
    stage: Stage,
    last_good: Stage | None,
    method: str,
    tensors: tuple[Tensors, Tensors],
    requests: tuple[Request, Request],
) -> Divergence | None:
    """Where a stage reads bytes that hold something else; None if it reads by bytes what it reads by values.

    ``tensors`` are inputs and expected ones, ``requests`` those for a run by values and for one on bytes.
    """
    told = (stage.name, "" if last_good is None else last_good.name, method)
    values = TracedStage(*trace_stage(stage, *tensors, requests[0]))
    try:
        stored = TracedStage(*trace_stage(stage, *tensors, requests[1]))
    except MisplacedError as error:
        return _misplaced(told, error, values)
    found = _overwrites(stored.node, stage.name)
    misread, chosen = _first(found, stored, list(_misreads(values, stored)))
    if misread is None:
        return _failing(told, stored, found)
    left, right = values.value(misread.values), stored.value(misread.stored)
    cell = worst_cell(right, left) if left is not None and right is not None else None
    return Divergence(
        *told,
        kind="bytes",
        place=_place(stored, misread),
        place_stage=stage.name,
        good=None if left is None else value_summary(left, misread.values, cell),
        bad=None if right is None else value_summary(right, misread.stored, cell),
        evidence=tuple(_reasons(misread, found, chosen)),
        writer=None if chosen is None else _writer(stored, chosen),
        overwrite=None if chosen is None else chosen.facts(),
    )


def _overwrites(node: ir.Program | ir.Function, stage: str) -> list[Overwrite]:
    placed = is_placed_at_0(functions_of(node), stage)
    return overwrites(node, load_table(), copies_yields=copies_yields(stage), placed=placed)


def _first(
    found: list[Overwrite], stage: TracedStage, misreads: list[_Misread]
) -> tuple[_Misread | None, Overwrite | None]:
    """The first misread that an overwrite is behind; else the first at all, with none.

    What is read of tiles that nobody has written, or out of pipes, differs as well, and may come before.
    """
    for misread in misreads:
        chosen = _chosen(found, stage, misread)
        if chosen is not None:
            return misread, chosen
    return next(iter(misreads), None), None


def _misreads(values: TracedStage, stored: TracedStage) -> Iterator[_Misread]:
    """What differs between the runs, in their order: reads before what statements make of them."""
    known, names = _by_run(values.trace), set(_names_only(stored))
    pairs = [
        (record, other)
        for key, records in _by_run(stored.trace).items()
        for record, other in zip(records, known.get(key, ()), strict=False)
    ]
    for record, other in sorted(pairs, key=lambda pair: stored.progress(pair[0])):
        one, two = stored.value(record), values.value(other)
        site = stored.trace.sites[record.site]
        place = Place(site.function, site.path)
        if place in names or one is None or two is None or _is_same(one, two):
            continue
        yield _Misread(place, _leaf(stored, place, site.kind, record), other, record)


def _names_only(stage: TracedStage) -> Iterator[Place]:
    """Statements that read no bytes: they give a tile another name, or show it in another way."""
    table = load_table()
    places = {name: FunctionPlaces(function, table) for name, function in stage.functions.items()}
    for place, stmt in stage.statements.items():
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TileType):
            is_view = places[place.function].is_view(stmt.var, stmt.value)
            if is_view or isinstance(stmt.value, ir.Var):
                yield place


def _is_same(one: Comparable, two: Comparable) -> bool:
    return one.tensor.shape == two.tensor.shape and same(one, two, EXACT)


def _by_run(trace: Trace) -> Mapping[tuple[object, ...], list[TraceRecord]]:
    """The records of each site, part, lane and block, in the order of the run."""
    found: dict[tuple[object, ...], list[TraceRecord]] = defaultdict(list)
    for record in trace.records:
        site = trace.sites[record.site]
        if site.kind in _COMPARED:
            key = (site.function, site.path, site.kind, site.variable, site.target)
            found[(*key, record.part, record.lane, record.block)].append(record)
    return found


def _leaf(stage: TracedStage, place: Place, kind: str, record: TraceRecord) -> ir.Expr | None:
    series = stage.inputs.get(place) if kind == "inputs" else None
    return None if series is None or record.part is None else series.leaves[record.part]


def _chosen(found: list[Overwrite], stage: TracedStage, misread: _Misread) -> Overwrite | None:
    """The overwrite behind a misread: of the statement and its operand, or of either."""
    stmt = stage.statements.get(misread.place)
    name = stage.trace.sites[misread.stored.site].variable
    of_statement = [one for one in found if one.statement is stmt]
    of_operand = [one for one in of_statement if one.tile is misread.leaf]
    tiles = {id(misread.leaf), *map(id, _bound(stmt))}
    of_tiles = [one for one in found if id(one.tile) in tiles]
    of_name = [one for one in of_tiles if one.tile.name_hint == name]
    return next(iter([*of_operand, *of_statement, *of_name, *of_tiles]), None)


def _bound(stmt: ir.Stmt | None) -> Iterator[ir.Var]:
    """What a loop or branch hands on: its bytes are read where it ends, or ends a round."""
    if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt):
        yield from (*stmt.return_vars, *getattr(stmt, "iter_args", ()))


def _place(stage: TracedStage, misread: _Misread) -> StatementPlace:
    """The statement of a misread, with the tile that it reads as its variable."""
    place = stage.trace.place(misread.stored)
    return replace(place, variable=misread.leaf.name_hint) if isinstance(misread.leaf, ir.Var) else place


def _reasons(misread: _Misread, found: list[Overwrite], chosen: Overwrite | None) -> Iterator[str]:
    name = misread.leaf.name_hint if isinstance(misread.leaf, ir.Var) else "what it leaves"
    verb = "reads" if misread.leaf is not None else "shows"
    yield f"by values it {verb} {name} as it is to be, on the bytes something else"
    others = [one for one in found if one is not chosen]
    yield from (f"also {one.text()}" for one in others[:_MORE])
    if len(others) > _MORE:
        yield f"and {len(others) - _MORE} more reads of bytes that hold something else"


def _writer(stage: TracedStage, overwrite: Overwrite) -> StatementPlace | None:
    """The statement that has taken the bytes; none where nothing was written there."""
    if overwrite.is_left:
        return None
    for place, stmt in stage.statements.items():
        if stmt is overwrite.written:
            return statement_place(stage, place)
    return None


def _failing(told: tuple[str, str, str], stored: TracedStage, found: list[Overwrite]) -> Divergence | None:
    """Where the script fails on bytes; None where it does not, and reads what it is to read."""
    failure = stored.trace.failure
    if failure is None or failure.place is None:
        return None
    lines = (*failure.text.splitlines()[:1], *(one.text() for one in found[:_MORE]))
    return _rejected(told, failure.place, tuple(lines))


def _misplaced(told: tuple[str, str, str], error: MisplacedError, values: TracedStage) -> Divergence:
    """The first overwrite of a stage that cannot run on bytes; else the first tile that lies where none can.

    Which tiles are beyond an allocation depends on where that begins, and what is overwritten does not.
    """
    for overwrite in _overwrites(values.node, told[0]):
        for place, stmt in values.statements.items():
            if stmt is overwrite.statement:
                found = statement_place(values, place)
                return Divergence(
                    *told,
                    kind="bytes",
                    place=replace(found, variable=overwrite.tile.name_hint),
                    place_stage=told[0],
                    evidence=tuple(error.notes[:_MORE]),
                    writer=_writer(values, overwrite),
                    overwrite=overwrite.facts(),
                )
    function, var, what = error.found[0]
    where = StatementPlace(function.name, variable=var.name_hint)
    for path, stmt in located_statements(function.body):
        if isinstance(stmt, ir.AssignStmt) and stmt.var is var:
            source = f"{stmt.span.filename}:{stmt.span.begin_line}" if stmt.span.is_valid() else ""
            where = StatementPlace(function.name, path, statement_text(stmt), var.name_hint, source)
    others = (f"also {other.name_hint}: {wrong}" for _, other, wrong in error.found[1 : _MORE + 1])
    return _rejected(told, where, (what, *others))


def _rejected(told: tuple[str, str, str], place: StatementPlace, evidence: tuple[str, ...]) -> Divergence:
    kind: Kind = "rejected"
    return Divergence(*told, kind=kind, place=place, place_stage=told[0], evidence=evidence)
