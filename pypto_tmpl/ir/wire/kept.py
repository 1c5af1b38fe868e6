"""What is kept of the functions of a program that was written, for the next one that has them as well.

The bytes of a function depend on where its numbers start, and on the numbers of nodes that functions before
it have written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

from pypto_tmpl.ir.program import Function


@dataclass(slots=True)
class KeptFunction:
    """The bytes of a function as texts between numbers of nodes.

    A number counts from the function's first node; a negative one is the place, from the end, among
    ``others``. ``nodes`` are the identities of the nodes that are written in full, in the order of their
    numbers, ``others`` those of nodes that were written before. ``types`` is how many types in tuple types
    there are.
    """

    function: Function
    nodes: Sequence[int]
    others: Sequence[int]
    types: int
    texts: Sequence[bytes]
    numbers: Sequence[int]

    def fits(self, known: Mapping[int, int]) -> bool:
        """Whether its own nodes are not known yet, as must be, and the others are."""
        return known.keys().isdisjoint(self.nodes) and all(other in known for other in self.others)

    def written(self, known: dict[int, int], pack: Callable[[object], bytes]) -> bytes:
        """Its bytes; its nodes get their numbers."""
        first = len(known)
        numbers = [*range(first, first + len(self.nodes)), *(known[other] for other in self.others)]
        known.update(zip(self.nodes, count(first), strict=False))
        parts: list[bytes] = [b""] * (len(self.texts) + len(self.numbers))
        parts[0::2] = self.texts
        parts[1::2] = [pack(numbers[number]) for number in self.numbers]
        return b"".join(parts)


@dataclass(slots=True)
class WrittenFunction:
    """A function as it was written: ``parts`` are bytes and numbers, from ``first`` on its own.

    ``known`` are the identities of all nodes by number.
    """

    function: Function
    parts: Sequence[Any]
    first: int
    known: Sequence[int]
    types: int


@dataclass(slots=True)
class Kept:
    """The functions of the program that was written last, and those of the one that is being written.

    Only of those that are asked for again it is found out where their numbers stand.
    """

    # By identity of the function.
    _last: dict[int, KeptFunction | WrittenFunction] = field(default_factory=dict)
    _next: dict[int, KeptFunction | WrittenFunction] = field(default_factory=dict)

    def find(self, function: Function) -> KeptFunction | None:
        """What is kept of a function that the last program had as well."""
        found = self._last.get(id(function))
        if found is None or found.function is not function:
            return None
        if isinstance(found, WrittenFunction):
            found = self._last[id(function)] = _kept(found)
        return found

    def keep(self, found: KeptFunction | WrittenFunction) -> None:
        """Have a function of the program that is being written for the next one."""
        self._next[id(found.function)] = found

    def turn(self) -> None:
        """The program is written: its functions are what is kept."""
        self._last, self._next = self._next, {}


def _kept(written: WrittenFunction) -> KeptFunction:
    function, parts, first, known = written.function, written.parts, written.first, written.known
    places = [place for place, part in enumerate(parts) if type(part) is int]
    others = sorted({parts[place] for place in places if parts[place] < first})
    from_end = {number: at - len(others) for at, number in enumerate(others)}
    numbers = [number - first if (number := parts[place]) >= first else from_end[number] for place in places]
    texts = [b"".join(parts[start + 1 : end]) for start, end in pairwise([-1, *places, len(parts)])]
    return KeptFunction(
        function, known[first:], [known[other] for other in others], written.types, texts, numbers
    )
