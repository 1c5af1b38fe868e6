"""What the programs of a hunt have reached, of all that there is to reach."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl.hunt.findings import Coverage
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

# Ops of which a program means nothing by itself: tests of the table, and what only upstream's tools make.
_NO_PROGRAM = ("test.",)


def executable_ops() -> list[str]:
    """The ops that scripts can be made of, by name."""
    table = load_table()
    return [name for name in table if table[name].refused is None and not name.startswith(_NO_PROGRAM)]


def all_passes() -> list[str]:
    """The passes of the Default pipeline, by name."""
    return list(dict.fromkeys(pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO)))


def coverage_lines(coverage: Coverage, programs: int) -> Iterator[str]:
    """Counts of the ops and the passes, what is missing first."""
    for title, names, counts in (
        ("ops", executable_ops(), coverage.ops),
        ("passes that changed something", all_passes(), coverage.passes),
    ):
        missing = [name for name in names if name not in counts]
        yield f"{title}: {len(names) - len(missing)} of {len(names)} in {programs} programs"
        if missing:
            yield f"    none: {', '.join(missing)}"
        rare = sorted((counts[name], name) for name in names if name in counts)
        for count, name in rare:
            yield f"    {count:>7} {name}"
