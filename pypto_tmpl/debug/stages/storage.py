"""What is wrong with stages that run on the bytes of their tiles."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.overwrites import overwrites

_SHOWN = 5


def wrong_places(
    node: ir.Program | ir.Function, *, copies_yields: bool = False, placed: bool = False
) -> tuple[str, ...]:
    """What a program reads from bytes that hold something else, a line each; the first few.

    One that ``copies_yields`` is of a stage before MemoryReuse; one is ``placed`` if its tiles have addresses
    though all may be 0.
    """
    wrong = overwrites(node, load_table(), copies_yields=copies_yields, placed=placed)
    found = [overwrite.text() for overwrite in wrong]
    more = len(found) - _SHOWN
    return (*found[:_SHOWN], *([f"and {more} more"] if more > 0 else []))
