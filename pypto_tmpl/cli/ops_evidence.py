"""What an op is tested by: samples, hand-written references and recorded oracle cases."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import yaml

from pypto_tmpl.ops import OpEntry


@dataclass(frozen=True, slots=True)
class Evidence:
    """What lies under ``tests/``; without the repository there are no references or cases to count."""

    references: frozenset[str] | None = None
    cases: Mapping[str, int] | None = None

    def counts(self, entry: OpEntry) -> tuple[int, int | None, int | None]:
        """Samples, references and oracle cases of an op; none where that cannot be told."""
        references = None if self.references is None else int(entry.name in self.references)
        return len(entry.samples), references, None if self.cases is None else self.cases.get(entry.name, 0)

    def reasons(self, entry: OpEntry) -> Iterator[str]:
        """Why a count is zero; MISSING where no reason is known."""
        if not entry.is_executable:
            yield "refused" if entry.refused is not None else "no-op: it has no value"
            return
        samples, references, cases = self.counts(entry)
        if samples == 0:
            yield f"samples: {_why_no_samples(entry)}"
        if references == 0:
            yield f"reference: {_OF_RANKS if _is_of_ranks(entry) else 'MISSING'}"
        if cases == 0:
            recorded = [op for op in entry.lowered_names if (self.cases or {}).get(op)]
            yield f"oracle: as {', '.join(recorded)}" if recorded else "oracle: not in the record"


def find_evidence(root: Path) -> Evidence:
    """Read what the repository at ``root`` has of tests; this imports its reference functions."""
    tests = root / "tests"
    counts = tests / "oracle" / "counts.yaml"
    cases = yaml.safe_load(counts.read_text(encoding="utf-8")) if counts.is_file() else None
    if not (tests / "ops" / "references" / "__init__.py").is_file():
        return Evidence(cases=cases)
    sys.path.insert(0, str(tests))
    try:
        registry = import_module("ops.references.registry")
        import_module("ops.references")
    finally:
        sys.path.remove(str(tests))
    return Evidence(frozenset(registry.REFERENCES), cases)


_OF_RANKS = "none, ranks exist while a host program runs: tests/ranks"


def _is_of_ranks(entry: OpEntry) -> bool:
    return entry.name.startswith(("pld.", "builtin.", "dist."))


def _why_no_samples(entry: OpEntry) -> str:
    if _is_of_ranks(entry):
        return _OF_RANKS
    return "none, it takes nothing" if _takes_nothing(entry) else "MISSING"


def _takes_nothing(entry: OpEntry) -> bool:
    return not entry.operands and not entry.kwargs
