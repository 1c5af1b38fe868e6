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


@dataclass(frozen=True, slots=True)
class _Claim:
    """What decides with which others an allocation can be one; times are bits, two for each statement."""

    base: int
    bit: int
    conflicts: int  # the bits of those that are still read when one of its tiles is written
    apart: frozenset[int]  # the bases on which the results of its ops may not lie
    stages: Stages
    inside: int  # the times between the start and the end of its lifetime
    moment: int  # the time of a lifetime that ends where it starts


@dataclass(slots=True)
class Buffer:
    """Allocations that have become one; the first is the largest."""

    groups: list[Group] = field(default_factory=list)
    is_pinned: bool = False
    bases: set[int] = field(default_factory=set)
    apart: set[int] = field(default_factory=set)
    bits: int = 0
    conflicts: int = 0
    inside: int = 0
    moments: int = 0
    residues: dict[str, int] = field(default_factory=dict)
    """Which of the stages of a group of copies, that have memory of their own, lies here."""

    @property
    def first(self) -> Group:
        """The allocation that stays."""
        return self.groups[0]

    def take(self, group: Group, claim: _Claim, residues: Mapping[str, int]) -> None:
        """Make an allocation one with those that are here."""
        self.groups.append(group)
        self.bases.add(claim.base)
        self.apart |= claim.apart
        self.bits |= claim.bit
        self.conflicts |= claim.conflicts
        self.inside |= claim.inside
        self.moments |= claim.moment
        self.residues |= residues


class Packing:
    """Shares memory as far as lifetimes, ops, stages of pipelines and what is needed later allow."""

    def __init__(
        self, lifetimes: Lifetimes, conflicts: Mapping[int, int], bits: Mapping[int, int], backend: str
    ) -> None:
        self._alternatives = lifetimes.alternatives
        self._alternating = {var for pair in lifetimes.alternatives for var in pair}
        self._claims = {
            base: _claim(group, bits.get(base, 0), conflicts.get(base, 0), backend)
            for base, group in lifetimes.groups.items()
        }

    def pack(self, groups: Sequence[Group], pinned: Mapping[int, int], room: int | None) -> list[Buffer]:
        """The buffers of one memory. ``pinned`` are sizes of declared allocations (ids), ``room`` the bytes.

        Stages of a pipeline stay apart, F of them at a time; F falls where the memory is too small for that.
        """
        depths = _Depths(groups, self._claims, room)
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
            claim = self._claims[id(group.base)]
            residues = depths.residues(claim.stages)
            is_pinned = claim.base in pinned
            shared = () if is_pinned else (buffer for buffer in buffers if not buffer.is_pinned)
            found = next((buffer for buffer in shared if self._fits(group, claim, residues, buffer)), None)
            if found is None:
                found = Buffer(is_pinned=is_pinned)
                buffers.append(found)
            found.take(group, claim, residues)
        return buffers

    def _fits(self, group: Group, claim: _Claim, residues: Mapping[str, int], buffer: Buffer) -> bool:
        if claim.conflicts & buffer.bits or claim.bit & buffer.conflicts:
            return False
        if claim.base in buffer.apart or not claim.apart.isdisjoint(buffer.bases):
            return False
        if any(buffer.residues.get(name, at) != at for name, at in residues.items()):
            return False
        in_use = claim.inside & (buffer.inside | buffer.moments) or claim.moment & buffer.inside
        return not in_use or self._are_alternatives(group, buffer)

    def _are_alternatives(self, group: Group, buffer: Buffer) -> bool:
        """Whether all tiles in use at once are what the two branches of an if yield."""
        if all(id(member.var) not in self._alternating for member in group.members):
            return False
        for other in buffer.groups:
            if group.overlaps(other):
                pairs = [
                    frozenset((id(a.var), id(b.var)))
                    for a in group.members
                    for b in other.members
                    if a.overlaps(b)
                ]
                if not pairs or any(pair not in self._alternatives for pair in pairs):
                    return False
        return True


def _claim(group: Group, bit: int, conflicts: int, backend: str) -> _Claim:
    apart = frozenset(
        id(place.base_)
        for member in group.members
        if member.call is not None
        for operand in operands_apart(member.call, backend)
        if (place := place_of(operand)) is not None
    )
    start, end = 2 * group.start, 2 * group.end
    return _Claim(
        base=id(group.base),
        bit=bit,
        conflicts=conflicts,
        apart=apart,
        stages=_stages(group),
        inside=(1 << end) - (1 << (start + 1)) if end > start else 0,
        moment=1 << start if end == start else 0,
    )


class _Depths:
    """How many stages of each group of copies have memory of their own."""

    def __init__(self, groups: Sequence[Group], claims: Mapping[int, _Claim], room: int | None) -> None:
        sizes: dict[str, int] = defaultdict(int)
        found: dict[str, set[int]] = defaultdict(set)
        for group in groups:
            for name, stage in claims[id(group.base)].stages.items():
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

    def residues(self, stages: Stages) -> dict[str, int]:
        """Which memory the stages of a tile use, by group of copies; those that may share it use the same."""
        return {name: self._order[name][stage] % self._depths[name] for name, stage in stages.items()}

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
