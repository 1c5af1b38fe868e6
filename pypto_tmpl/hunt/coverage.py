"""What the programs of a hunt have reached, of all that there is to reach."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl.hunt.findings import Coverage
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names


def executable_ops() -> list[str]:
    """The ops that scripts can be made of, by name; no ops of tests."""
    table = load_table()
    return [name for name in table if table[name].refused is None and table[name].namespace != "test"]


def unwritten_ops(coverage: Coverage) -> dict[str, str]:
    """Ops that no language has a spelling for and no pass has made, with what the op table says of them."""
    table = load_table()
    missing = (table[name] for name in executable_ops() if name not in coverage.ops)
    return {entry.name: entry.notes or entry.summary for entry in missing if not entry.dsl}


def all_passes() -> list[str]:
    """The passes of the Default pipeline, by name."""
    return list(dict.fromkeys(pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO, buffers=True)))


def coverage_lines(coverage: Coverage, programs: int) -> Iterator[str]:
    """Counts of the ops and the passes, what is missing first; ops that nobody can write are told apart."""
    unwritten = unwritten_ops(coverage)
    ops = [name for name in executable_ops() if name not in unwritten]
    for title, names, counts in (
        ("ops", ops, coverage.ops),
        ("passes that changed something", all_passes(), coverage.passes),
    ):
        missing = [name for name in names if name not in counts]
        yield f"{title}: {len(names) - len(missing)} of {len(names)} in {programs} programs"
        if missing:
            yield f"    none: {', '.join(missing)}"
        if names is ops:
            yield from (
                f"    written by nobody, made by no pass: {name} ({why})" for name, why in unwritten.items()
            )
        rare = sorted((counts[name], name) for name in names if name in counts)
        for count, name in rare:
            yield f"    {count:>7} {name}"
