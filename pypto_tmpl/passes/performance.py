"""Hints about programs that are right and could be faster."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts, chosen_facts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.verifier import Diagnostic, DiagnosticSeverity
from pypto_tmpl.passes.diagnostics import DiagnosticCheck
from pypto_tmpl.passes.structure.nested_calls import whole_value

CODE = "PH001"
PERF_HINTS = (DiagnosticCheck.TileInnermostDimGranularity,)
"""The checks that give hints; all others warn."""
_LOAD, _STORE = "tile.load", "tile.store"


class _Transfer(NamedTuple):
    """A load or store of short rows, in the order in which a report has them: by place, op and tile."""

    filename: str
    line: int
    column: int
    op: str
    dtype: str
    width: int
    row: int  # bytes of as many elements
    moved: tuple[int, ...]  # rows, and bytes of each, as far as the valid region is known
    space: str


def perf_hints_of(program: ir.Program, checks: Iterable[DiagnosticCheck]) -> list[Diagnostic]:
    """What the checks of performance say of a program, by place, on the chosen backend; nothing without."""
    facts = chosen_facts()
    if facts is None or not any(check in PERF_HINTS for check in checks):
        return []
    found = [
        (transfer, call.span, function.name)
        for function in program.functions.values()
        for call, transfer in _short_rows(function, facts)
    ]
    rule, severity = PERF_HINTS[0].name, DiagnosticSeverity.PerfHint
    return [
        Diagnostic(rule, 0, _text(transfer, facts), span, name, severity, CODE)
        for transfer, span, name in sorted(found, key=lambda one: one[0])
    ]


def _short_rows(function: ir.Function, facts: BackendFacts) -> Iterator[tuple[ir.Call, _Transfer]]:
    """Loads and stores of tiles with rows that are shorter than the backend's memory likes."""
    for stmt in statements(function.body):
        call = whole_value(stmt)
        if not isinstance(call, ir.Call) or call.op.name not in (_LOAD, _STORE):
            continue
        tile = call.type if call.op.name == _LOAD else call.args[0].type
        if not isinstance(tile, ir.TileType):
            continue
        width = constant_extent(tile.shape[-1])
        if width is not None and _bytes(tile.dtype, width) < facts.gm.recommended_innermost:
            yield call, _transfer(call, tile, width)


def _transfer(call: ir.Call, tile: ir.TileType, width: int) -> _Transfer:
    """How much is moved depends on the valid region, and is left out where only the run knows that."""
    valid = tuple(tile.get_effective_tile_view().valid_shape) or tuple(tile.shape)
    known = [extent.value for extent in valid if isinstance(extent, ir.ConstInt)]
    moved = (math.prod(known[:-1]), _bytes(tile.dtype, known[-1])) if len(known) == len(valid) else ()
    space = tile.memory_space.name if tile.memory_space is not None else "none"
    span, dtype = call.span, tile.dtype.to_string()
    place = span.filename, span.begin_line, span.begin_column
    row = _bytes(tile.dtype, width)
    return _Transfer(*place, call.op.name, dtype, width, row, moved, space)


def _bytes(dtype: ir.DataType, elements: int) -> int:
    return elements * dtype.get_bit() // 8


def _text(transfer: _Transfer, facts: BackendFacts) -> str:
    moved, least = "", facts.gm.recommended_innermost
    if transfer.moved:
        count, part = transfer.moved
        moved = f"; moves {count * part}B as {count} x {part}B rows"
    return (
        f"{transfer.op} has innermost dim = {transfer.row}B (tile {transfer.dtype}[{transfer.width}], "
        f"target_memory={transfer.space}){moved}; recommended >= {least}B for backend "
        f"{facts.architecture} (L2 cache line = {facts.gm.l2_cache_line}B). Consider increasing tile shape "
        "on the innermost axis."
    )


def hint_lines(hints: Iterable[Diagnostic]) -> list[str]:
    """Hints as lines of a report; those that say the same of one place are one line."""
    times: Counter[tuple[str, str]] = Counter()
    for hint in hints:
        where = f" at {hint.span}" if hint.span.is_valid() else ""
        times[f"[perf_hint {hint.hint_code}] {hint.rule_name}: {hint.message}", where] += 1
    return [
        f"{text}{f' ({count} occurrences at this source location)' if count > 1 else ''}{where}"
        for (text, where), count in times.items()
    ]
