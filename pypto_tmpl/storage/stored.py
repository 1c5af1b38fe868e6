"""Whether a program is one that runs on the bytes of its tiles."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.ir.stage_names import pass_of
from pypto_tmpl.storage.choices import StorageChoice
from pypto_tmpl.storage.places import has_addresses, has_places

_UNPLANNED = ("InitMemRef", "MaterializeSemanticAliases")


def is_stored(functions: Iterable[ir.Function], choice: StorageChoice, stage: str) -> bool:
    """Whether the program of a stage runs on the bytes of its tiles.

    Those have to have addresses, or, if "on", places in allocations; copies of what loops and branches
    yield are planned after MemoryReuse only.
    """
    if choice == "on" and pass_of(stage) not in _UNPLANNED:
        return has_places(functions)
    return choice != "off" and has_addresses(functions)
