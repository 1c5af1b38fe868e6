"""Whether a program is one that runs on the bytes of its tiles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pypto_tmpl import ir
from pypto_tmpl.ir.stage_names import pass_of
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.choices import StorageChoice
from pypto_tmpl.storage.places import FunctionPlaces, has_addresses, has_places

_UNPLANNED = ("InitMemRef", "MaterializeSemanticAliases")
_LAST_UNPLACED = "MemoryReuse"


def is_stored(functions: Iterable[ir.Function], choice: StorageChoice, stage: str) -> bool:
    """Whether the program of a stage runs on the bytes of its tiles.

    Those have to have addresses, or, if "on", places in allocations. Where all begins at 0 after
    MemoryReuse, there are addresses if no memory has two allocations: else another planner is to place them.
    """
    functions = list(functions)
    if choice in ("on", "off"):
        return choice == "on" and has_places(functions)
    return has_addresses(functions) or planned_by(stage) == "addresses" and _has_one_each(functions)


def planned_by(stage: str) -> Literal["allocations", "copies", "addresses"]:
    """What is planned by the stage of a name, where nothing else tells."""
    name = pass_of(stage)
    return "allocations" if name in _UNPLANNED else "copies" if name == _LAST_UNPLACED else "addresses"


def copies_yields(stage: str) -> bool:
    """Whether loops and branches copy what they yield to where it is to lie: MemoryReuse plans that."""
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
