"""Which stages run on the bytes of their tiles, and what is wrong with those that do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from pypto_tmpl import ir
from pypto_tmpl.ir.stage_names import pass_of
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.overwrites import overwrites
from pypto_tmpl.storage.places import has_addresses, has_places

StorageChoice: TypeAlias = Literal["planned", "on", "off", "both"]
DEFAULT: StorageChoice = "both"  # each sees faults that the other does not
STORAGE_CHOICES: tuple[StorageChoice, ...] = get_args(StorageChoice)
_UNPLANNED = ("InitMemRef", "MaterializeSemanticAliases")
_SHOWN = 5


def is_stored(functions: Iterable[ir.Function], choice: StorageChoice, stage: str) -> bool:
    """Whether the program of a stage runs on the bytes of its tiles.

    Those have to have addresses, or, if "on", places in allocations; copies of what loops and branches
    yield are planned after MemoryReuse only.
    """
    if choice == "on" and pass_of(stage) not in _UNPLANNED:
        return has_places(functions)
    return choice != "off" and has_addresses(functions)


def wrong_places(node: ir.Program | ir.Function) -> tuple[str, ...]:
    """What a program reads from bytes that hold something else, a line each; the first few."""
    found = [overwrite.text() for overwrite in overwrites(node, load_table())]
    more = len(found) - _SHOWN
    return (*found[:_SHOWN], *([f"and {more} more"] if more > 0 else []))
