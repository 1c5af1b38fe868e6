"""Spellings that the entries of two ops claim, so that a call could not tell which is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from pypto_tmpl.errors import Diagnostic
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.table import Declaration


def colliding_spellings(declarations: Iterable[Declaration]) -> Iterator[Diagnostic]:
    """Spellings of ``dsl`` whose ops take operands of the same kinds; the later declaration is to blame."""
    claims: dict[str, list[Declaration]] = {}
    for declaration in declarations:
        for spelling in dict.fromkeys(declaration.entry.dsl):
            claims.setdefault(spelling, []).append(declaration)
    for spelling, found in claims.items():
        for first, second in combinations(found, 2):
            if not _are_alike(first.entry, second.entry):
                continue
            index = second.entry.dsl.index(spelling)
            what = f"{second.entry.name}: {spelling} means {first.entry.name} with operands of the same kinds"
            where = str(second.locate("dsl", index))
            notes = (f"first: {first.locate('dsl')}", "choose another spelling")
            yield Diagnostic("colliding-spelling", what, where, notes)


def _are_alike(first: OpEntry, second: OpEntry) -> bool:
    kinds = [_needed_kinds(entry) for entry in (first, second)]
    if not kinds[0] or not kinds[1]:
        return first.namespace == second.namespace
    return len(kinds[0]) == len(kinds[1]) and all(
        one & other or "any" in one | other for one, other in zip(*kinds, strict=True)
    )


def _needed_kinds(entry: OpEntry) -> list[set[str]]:
    return [set(operand.kinds) for operand in entry.operands if not (operand.optional or operand.scratch)]
