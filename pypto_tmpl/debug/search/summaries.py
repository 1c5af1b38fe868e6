"""What is told of a value, and of a statement, of a traced stage."""

from __future__ import annotations

import torch

from pypto_tmpl import ir
from pypto_tmpl.debug.search.divergence import ValueSummary
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import Place, TracedStage
from pypto_tmpl.debug.trace.value_match import Comparable
from pypto_tmpl.execution.statement_place import StatementPlace, statement_text


def value_summary(
    value: Comparable, record: TraceRecord | None, cell: tuple[int, ...] | None
) -> ValueSummary:
    """What a value looks like, and what is in one cell of it."""
    tensor = value.tensor
    numbers = tensor.to(torch.float64)
    finite = numbers[numbers.isfinite()]
    has_numbers = bool(finite.numel())
    return ValueSummary(
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(tensor.shape),
        valid=None if record is None else record.valid,
        minimum=float(finite.min()) if has_numbers else None,
        maximum=float(finite.max()) if has_numbers else None,
        mean=float(finite.mean()) if has_numbers else None,
        nonfinite=int(tensor.numel() - finite.numel()),
        index=cell,
        at_index=float(numbers[cell]) if cell is not None else None,
    )


def statement_place(stage: TracedStage, place: Place) -> StatementPlace:
    """A statement without a run of it; that of a failure is told as that has it."""
    stmt = stage.statements.get(place)
    if stmt is None:
        return StatementPlace(place.function, place.path)
    failure = stage.trace.failure
    if failure is not None and failure.place is not None and failure.place.path == place.path:
        return failure.place
    return StatementPlace(
        place.function,
        place.path,
        statement_text(stmt),
        stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else "",
        f"{stmt.span.filename}:{stmt.span.begin_line}" if stmt.span.is_valid() else "",
    )
