"""Whether a program is one that runs on the bytes of its tiles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir.pass_order import passes_until
from pypto_tmpl.ir.stage_names import pass_of
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.choices import StorageChoice
from pypto_tmpl.storage.places import FunctionPlaces, has_addresses, has_places

_UNPLANNED = ("InitMemRef", "MaterializeSemanticAliases")
_LAST_UNPLACED = "MemoryReuse"
_PLACES = "AllocateMemoryAddr"

Planned: TypeAlias = Literal["allocations", "copies", "addresses", "unknown"]


def is_stored(functions: Iterable[ir.Function], choice: StorageChoice, stage: str) -> bool:
    """Whether the program of a stage runs on the bytes of its tiles.

    Those have to have addresses, or, if "on", places in allocations. Where all begins at 0, and the name of
    the stage does not tell, there are addresses if no memory has two allocations: else another planner is to
    place them.
    """
    functions = list(functions)
    if choice in ("on", "off"):
        return choice == "on" and has_places(functions)
    if has_addresses(functions):
        return True
    planned = planned_by(stage)
    if planned == "addresses":
        return has_places(functions)
    return planned == "unknown" and _has_one_each(functions)


def planned_by(stage: str) -> Planned:
    """What is planned by the stage of a name, where nothing else tells.

    In pipelines of a planner that leaves all of it to others, stages have other numbers.
    """
    name = pass_of(stage)
    if name in _UNPLANNED:
        return "allocations"
    if name == _LAST_UNPLACED:
        return "copies"
    done = list(passes_until(stage))
    if name == _PLACES or done and all(_PLACES in passes for passes in done):
        return "addresses"
    is_left = bool(done) and all(_UNPLANNED[-1] in passes and _PLACES not in passes for passes in done)
    return "allocations" if is_left else "unknown"


def is_placed_at_0(functions: Iterable[ir.Function], stage: str) -> bool:
    """Whether tiles have addresses though all are 0, which the name of a stage tells."""
    return planned_by(stage) == "addresses" and not has_addresses(functions)


def copies_yields(stage: str) -> bool:
    """Whether loops and branches copy what they yield to where it is to lie: nobody has planned that."""
    return planned_by(stage) == "allocations"


def _has_one_each(functions: Iterable[ir.Function]) -> bool:
    """Whether tiles have places, in one allocation for each memory of a function."""
    table, counts = load_table(), list[int]()
    for function in functions:
        bases: dict[ir.MemorySpace, set[int]] = {}
        for place in FunctionPlaces(function, table).all():
            bases.setdefault(place.space, set()).add(id(place.base))
        counts += map(len, bases.values())
    return set(counts) == {1}
