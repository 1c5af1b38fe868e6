"""How much statements of two stages are alike, whatever their values: by op, name and settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pypto_tmpl.debug.trace.traced_stage import RESULTS, Series

_TEMPORARIES = {"", "t", "tmp", "ret", "_tuple_tmp"}
_COMPOUND = {"ForStmt", "WhileStmt", "IfStmt"}


def candidates(series: Series, free: list[Series]) -> list[Series]:
    """Partners that may have the same values: of a user's name only that name, if it is there."""
    found = [partner for partner in free if len(partner) == len(series)]
    named = [partner for partner in found if partner.stem == series.stem]
    if not _is_temporary(series) and any(partner.op == series.op for partner in named):
        return [*named, *(partner for partner in found if _is_temporary(partner))]
    return found


def numbered(many: list[Series]) -> dict[int, int]:
    """The number of each series among those of its op."""
    counts: Counter[str] = Counter()
    found = {}
    for series in many:
        found[id(series)] = counts[series.op]
        counts[series.op] += 1
    return found


def _is_temporary(series: Series) -> bool:
    """Whether a name is none of the user's: passes number such names anew."""
    return series.stem in _TEMPORARIES


def grouped(
    left: Iterable[Series], right: Iterable[Series], key: Callable[[Series], Any]
) -> Iterator[tuple[list[Series], list[Series]]]:
    """The series of both sides by what they have in common, where both sides have some."""
    groups: dict[Any, tuple[list[Series], list[Series]]] = defaultdict(lambda: ([], []))
    for side, many in enumerate((left, right)):
        for series in many:
            groups[key(series)][side].append(series)
    return (pair for pair in groups.values() if pair[0] and pair[1])


def merged(many: list[Series]) -> Series:
    """The values of several statements as if one had given them, in the order of the run."""
    first = many[0]
    whole = Series(first.site, None, first.kind, first.place, first.op, first.name, first.settings)
    for series in many:
        for lane, records in series.by_lane.items():
            whole.by_lane.setdefault(lane, []).extend(records)
    for records in whole.by_lane.values():
        records.sort(key=lambda record: record.order)
    return whole


def is_one_name(series: Series, partner: Series) -> bool:
    """Whether both are values of one variable of the user, and not what comes out of a loop or branch."""
    return series.stem == partner.stem != "" and not {series.op, partner.op} & _COMPOUND


def is_one_variable(series: Series, partner: Series) -> bool:
    """Whether both name the same variable of the user in the same function, computed equally often."""
    return (
        is_one_name(series, partner)
        and not _is_temporary(series)
        and series.kind == partner.kind
        and (series.name, series.place.function) == (partner.name, partner.place.function)
        and len(series) == len(partner)
    )


def likeness(series: Series, partner: Series) -> int:
    """How much two statements are alike, whatever their values."""
    if series.kind != partner.kind and {series.kind, partner.kind} & (RESULTS - {"value", "operand"}):
        return 0
    return (
        3 * (series.op == partner.op)
        + 2 * (series.name == partner.name)
        + 2 * (series.stem == partner.stem != "")
        + (series.settings == partner.settings)
        + (series.place.function == partner.place.function)
        + (len(series) == len(partner))
    )
