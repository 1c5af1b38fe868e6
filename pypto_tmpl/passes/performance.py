"""Hints about programs that are right and could be faster."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts, chosen_facts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier import Diagnostic, DiagnosticSeverity
from pypto_tmpl.passes.diagnostics import DiagnosticCheck
from pypto_tmpl.passes.structure.nested_calls import whole_value

CODE = "PH001"
PERF_HINTS = (DiagnosticCheck.TileInnermostDimGranularity,)
"""The checks that give hints; all others warn."""
_LOAD, _STORE = "tile.load", "tile.store"


def perf_hints_of(program: ir.Program, checks: Iterable[DiagnosticCheck]) -> list[Diagnostic]:
    """What the checks of performance say of a program, function by function."""
    if not any(check in PERF_HINTS for check in checks):
        return []
    return [hint for function in program.functions.values() for hint in short_rows(function)]


def short_rows(function: ir.Function) -> Iterator[Diagnostic]:
    """Loads and stores of rows that are shorter than the chosen backend's memory likes; none without one."""
    if (facts := chosen_facts()) is None:
        return
    for stmt in statements(function.body):
        call = whole_value(stmt)
        if isinstance(call, ir.Call) and call.op.name in (_LOAD, _STORE):
            tile = call.type if call.op.name == _LOAD else call.args[0].type
            if isinstance(tile, ir.TileType) and (what := _short(call, tile, facts)) is not None:
                rule, severity = PERF_HINTS[0].name, DiagnosticSeverity.PerfHint
                yield Diagnostic(rule, 0, what, call.span, function.name, severity, CODE)


def _short(call: ir.Call, tile: ir.TileType, facts: BackendFacts) -> str | None:
    """What is said of a transfer, None where its rows are long enough, or as long as is known at run time."""
    valid = [extent.value if isinstance(extent, ir.ConstInt) else None for extent in _moved(tile)]
    *rows, width = valid
    if width is None or (row := width * tile.dtype.get_bit() // 8) >= facts.gm.recommended_innermost:
        return None
    space = tile.memory_space.name if tile.memory_space is not None else "none"
    known = [extent for extent in rows if extent is not None]
    count = math.prod(known)
    moved = f"; moves {count * row}B as {count} x {row}B rows" if len(known) == len(rows) else ""
    return (
        f"{call.op.name} has innermost dim = {row}B (tile {tile.dtype.to_string()}[{width}], "
        f"target_memory={space}){moved}; recommended >= {facts.gm.recommended_innermost}B for backend "
        f"{facts.architecture} (L2 cache line = {facts.gm.l2_cache_line}B). Consider increasing tile shape "
        "on the innermost axis."
    )


def _moved(tile: ir.TileType) -> tuple[ir.Expr, ...]:
    return tuple(tile.get_effective_tile_view().valid_shape) or tuple(tile.shape)


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
