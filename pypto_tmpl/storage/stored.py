"""Whether a program is one that runs on the bytes of its tiles."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.ir.stage_names import pass_of
from pypto_tmpl.storage.choices import StorageChoice
from pypto_tmpl.storage.places import has_addresses, has_places

_UNPLANNED = ("InitMemRef", "MaterializeSemanticAliases")


def is_stored(functions: Iterable[ir.Function], choice: StorageChoice) -> bool:
    """Whether the program of a stage runs on the bytes of its tiles.

    Those have to have addresses, or, if "on", places in allocations.
    """
    return has_places(functions) if choice == "on" else choice != "off" and has_addresses(functions)


def copies_yields(stage: str) -> bool:
    """Whether loops and branches copy what they yield to where it is to lie: MemoryReuse plans that."""
    return pass_of(stage) in _UNPLANNED
