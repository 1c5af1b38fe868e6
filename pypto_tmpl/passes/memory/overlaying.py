"""Addresses for allocations that may lie across each other, where they are in use at different times."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.backend import get_backend_type, is_backend_configured
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.memory.lifespans import Group, Lifetimes
from pypto_tmpl.passes.memory.no_alias import operands_apart
from pypto_tmpl.passes.memory.overwriting import Live, Liveness
from pypto_tmpl.passes.memory.placed_tiles import aligned, place_of
from pypto_tmpl.passes.pipelining.loops import MEMBERSHIP


class Overlaying:
    """Which allocations of a function may lie across each other.

    Those of which one was read for the last time before the other is written. What an op writes may also
    begin exactly where an operand does that it is the last to read, unless the op forbids that.
    """

    def __init__(self, function: ir.Function) -> None:
        name = get_backend_type().name if is_backend_configured() else ""
        self.groups = Lifetimes(function).groups
        self._forbidden = {base: _forbidden(group, name) for base, group in self.groups.items()}
        self._conflicts: dict[int, int] = defaultdict(int)

        def writing(written: ir.Var, memref: ir.MemRef, live: Live, stmt: ir.Stmt) -> None:
            self._conflicts[id(memref.base_)] |= live.mask

        live = Liveness(function, place_of, writing).live
        self._bits = {base: live.bit(group.base) for base, group in self.groups.items()}

    def starts(self, sizes: Mapping[int, int], begin: int, room: int | None) -> dict[int, int]:
        """Where allocations of one memory begin, by base (id), the largest first, each as low as it can.

        ``sizes`` are their bytes. Tiles of different rounds of a pipeline lie apart unless that takes
        more than ``room``.
        """
        groups = sorted(
            (self.groups[base] for base in sizes),
            key=lambda one: (-sizes[id(one.base)], one.start, one.index),
        )
        found = self._placed(groups, sizes, begin, are_rounds_apart=True)
        if room is not None and any(start + sizes[base] > room for base, start in found.items()):
            found = self._placed(groups, sizes, begin, are_rounds_apart=False)
        return found

    def _placed(
        self, groups: Sequence[Group], sizes: Mapping[int, int], begin: int, *, are_rounds_apart: bool
    ) -> dict[int, int]:
        found: dict[int, int] = {}
        placed: list[tuple[int, int, Group]] = []  # by address
        for group in groups:
            size, start = sizes[id(group.base)], begin
            for low, high, other in placed:
                if low >= start + size or start >= high:
                    continue
                is_held = are_rounds_apart and _are_of_different_rounds(group, other)
                if is_held or not self._may_lie_across(group, other, start == low):
                    start = aligned(high)
            found[id(group.base)] = start
            insort(placed, (start, start + size, group), key=lambda one: one[0])
        return found

    def _may_lie_across(self, one: Group, two: Group, do_meet: bool) -> bool:
        """Whether both may have bytes in common; ``do_meet``: they begin at the same one."""
        a, b = id(one.base), id(two.base)
        if one.overlaps(two) or self._conflicts[a] & self._bits[b] or self._conflicts[b] & self._bits[a]:
            return False
        if one.end < two.start or two.end < one.start:
            return True
        if not do_meet or b in self._forbidden[a] or a in self._forbidden[b]:
            return False
        return all(constant_extent(tile.memref.byte_offset_) == 0 for tile in (*one.members, *two.members))


def _forbidden(group: Group, backend: str) -> set[int]:
    """The allocations (ids) on which no tile of one may be written: those of operands of its op."""
    calls = (tile.call for tile in group.members if tile.call is not None)
    operands = (operand for call in calls for operand in operands_apart(call, backend))
    return {id(place.base_) for operand in operands if (place := place_of(operand)) is not None}


def _are_of_different_rounds(one: Group, two: Group) -> bool:
    a, b = _rounds(one), _rounds(two)
    return any(a[name] != b[name] for name in a.keys() & b.keys())


def _rounds(group: Group) -> dict[str, str]:
    """The round that the first tile of an allocation is of, by pipeline."""
    call = group.members[0].call
    pairs = str(call.attrs.get(MEMBERSHIP, "")) if call is not None else ""
    return dict(pair.split(":", 1) for pair in pairs.split(";") if pair)
