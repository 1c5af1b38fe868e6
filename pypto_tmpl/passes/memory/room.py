"""How much memory tiles need at one time, whoever places them, and refusing what can never fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory.lifespans import Group, Lifetime, Lifetimes
from pypto_tmpl.passes.memory.placed_tiles import allocations, is_pinned, size_of
from pypto_tmpl.passes.memory.reserved import Reserved

Use = tuple[int, int, int]
"""Of a tile: the first and the last statement, and the bytes."""


def most_at_once(always: int, buffers: Iterable[Iterable[Use]]) -> tuple[int, int]:
    """The most bytes that are needed at one time, and the first statement where they are.

    ``always`` are bytes that are taken all the time. Of the tiles of an allocation that are in use together
    the largest counts, since others may be views of it. Who reads a tile last may write over it.
    """
    totals = Counter[int]()
    for tiles in buffers:
        needed = dict[int, int]()
        for first, last, size in tiles:
            for number in range(first, max(last, first + 1)):
                needed[number] = max(needed.get(number, 0), size)
        totals.update(needed)
    number, size = max(totals.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    return always + size, number


def refuse_what_never_fits(function: ir.Function, backend: BackendFacts | None) -> None:
    """Raise PassError where tiles that are needed together are more than their memory, however placed.

    It is also raised for buffers of pipes whose addresses are wrong, as ``Reserved`` finds them.
    """
    reserved = Reserved(function, backend)
    reserved.check()
    if backend is None:
        return
    declared = {base: size_of(call) for base, (_, call) in allocations(function).items() if is_pinned(call)}
    groups = list(Lifetimes(function).groups.values())
    for space in dict.fromkeys(group.space for group in groups):
        own = [group for group in groups if group.space is space]
        always = sum(declared.get(id(group.base), 0) for group in own)
        always += reserved.end if space is reserved.space else 0
        free = [group for group in own if id(group.base) not in declared]
        needed, number = most_at_once(always, [map(_use, group.members) for group in free])
        limit = backend.capacity(space)
        if limit is not None and needed > limit:
            raise _too_much(function, space, needed, limit, _largest(free or own, number))


def _use(tile: Lifetime) -> Use:
    return tile.start, tile.end, tile.memref.size_


def _largest(groups: Iterable[Group], number: int) -> Lifetime:
    """The largest tile of those that are in use at a statement."""
    tiles = [tile for group in groups for tile in group.members]
    used = [tile for tile in tiles if tile.start <= number < max(tile.end, tile.start + 1)] or tiles
    return max(used, key=lambda tile: tile.memref.size_)


def _too_much(
    function: ir.Function, space: ir.MemorySpace, needed: int, limit: int, tile: Lifetime
) -> PassError:
    what = f"{space.name} buffer usage ({needed} bytes at once) exceeds platform limit ({limit} bytes)"
    which = f"{tile.memref.base_.name_hint!r} with {tile.var.name_hint!r}, {tile.memref.size_} bytes"
    return PassError(f"{what}: the largest of them is {which}", function, tile.var)
