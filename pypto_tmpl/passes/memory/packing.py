"""Which allocations become one: the largest first, each into the first buffer that it can share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pypto_tmpl.passes.memory.lifespans import Group, Lifetimes
from pypto_tmpl.passes.memory.no_alias import operands_apart
from pypto_tmpl.passes.memory.placed_tiles import aligned, place_of
from pypto_tmpl.passes.pipelining.loops import MEMBERSHIP

Stages = Mapping[str, int]
"""Of a tile: the stage in each group of copies of a loop's rounds."""


@dataclass(slots=True)
class Buffer:
    """Allocations that have become one; the first is the largest."""

    groups: list[Group]
    is_pinned: bool = False
    bases: set[int] = field(default_factory=set)

    @property
    def first(self) -> Group:
        """The allocation that stays."""
        return self.groups[0]


class Packing:
    """Shares memory as far as lifetimes, ops, stages of pipelines and what is needed later allow."""

    def __init__(
        self, lifetimes: Lifetimes, conflicts: Mapping[int, int], bits: Mapping[int, int], backend: str
    ) -> None:
        self._lifetimes = lifetimes
        self._conflicts = conflicts
        self._bits = bits
        self._apart = {
            id(group.base): {
                id(place.base_)
                for member in group.members
                if member.call is not None
                for operand in operands_apart(member.call, backend)
                if (place := place_of(operand)) is not None
            }
            for group in lifetimes.groups.values()
        }
        self._stages = {id(group.base): _stages(group) for group in lifetimes.groups.values()}

    def pack(self, groups: Sequence[Group], pinned: Mapping[int, int], room: int | None) -> list[Buffer]:
        """The buffers of one memory. ``pinned`` are sizes of declared allocations (ids), ``room`` the bytes.

        Stages of a pipeline stay apart, F of them at a time; F falls where the memory is too small for that.
        """
        depths = _Depths(groups, self._stages, room)
        while True:
            buffers = self._packed(groups, pinned, depths)
            used = sum(
                aligned(max(buffer.first.size, pinned.get(id(buffer.first.base), 0))) for buffer in buffers
            )
            if room is None or used <= room or not depths.lower():
                return buffers

    def _packed(self, groups: Sequence[Group], pinned: Mapping[int, int], depths: _Depths) -> list[Buffer]:
        buffers: list[Buffer] = []
        for group in sorted(groups, key=lambda one: (-one.size, one.start, one.index)):
            is_pinned = id(group.base) in pinned
            found = (
                None
                if is_pinned
                else next(
                    (
                        buffer
                        for buffer in buffers
                        if not buffer.is_pinned and self._fits(group, buffer, depths)
                    ),
                    None,
                )
            )
            if found is None:
                buffers.append(Buffer([group], is_pinned, {id(group.base)}))
            else:
                found.groups.append(group)
                found.bases.add(id(group.base))
        return buffers

    def _fits(self, group: Group, buffer: Buffer, depths: _Depths) -> bool:
        own = id(group.base)
        if self._apart[own] & buffer.bases or any(own in self._apart[base] for base in buffer.bases):
            return False
        return all(
            self._can_share(group, other)
            and depths.can_share(self._stages[own], self._stages[id(other.base)])
            for other in buffer.groups
        )

    def _can_share(self, group: Group, other: Group) -> bool:
        one, two = id(group.base), id(other.base)
        if self._conflicts.get(one, 0) & self._bits.get(two, 0) or self._conflicts.get(
            two, 0
        ) & self._bits.get(one, 0):
            return False
        return not group.overlaps(other) or self._are_alternatives(group, other)

    def _are_alternatives(self, group: Group, other: Group) -> bool:
        """Whether all tiles in use at once are what the two branches of an if yield."""
        pairs = [
            frozenset((id(a.var), id(b.var))) for a in group.members for b in other.members if a.overlaps(b)
        ]
        return bool(pairs) and all(pair in self._lifetimes.alternatives for pair in pairs)


class _Depths:
    """How many stages of each group of copies have memory of their own."""

    def __init__(self, groups: Sequence[Group], stages: Mapping[int, Stages], room: int | None) -> None:
        sizes: dict[str, int] = defaultdict(int)
        found: dict[str, set[int]] = defaultdict(set)
        for group in groups:
            for name, stage in stages[id(group.base)].items():
                sizes[name] = max(sizes[name], aligned(group.size))
                found[name].add(stage)
        self._sizes = sizes
        self._order = {
            name: {stage: at for at, stage in enumerate(sorted(own))} for name, own in found.items()
        }
        self._depths = {
            name: max(1, len(own) if room is None else min(len(own), room // max(sizes[name], 1)))
            for name, own in found.items()
        }

    def can_share(self, one: Stages, two: Stages) -> bool:
        """Whether two tiles are of stages that may use the same memory."""
        for name in one.keys() & two.keys():
            order, depth = self._order[name], self._depths[name]
            if order[one[name]] % depth != order[two[name]] % depth:
                return False
        return True

    def lower(self) -> bool:
        """Give the group with the largest tile a stage less; whether there was one."""
        deep = [name for name, depth in self._depths.items() if depth > 1]
        if not deep:
            return False
        self._depths[min(deep, key=lambda name: (-self._sizes[name], int(name)))] -= 1
        return True


def _stages(group: Group) -> Stages:
    call = group.members[0].call
    pairs = "" if call is None else str(call.attrs.get(MEMBERSHIP, ""))
    return dict(_pairs(pairs))


def _pairs(text: str) -> Iterator[tuple[str, int]]:
    for pair in filter(None, text.split(";")):
        name, _, stage = pair.partition(":")
        yield name, int(stage)
