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

    def fits(self, function: Function, known: Mapping[int, int]) -> bool:
        """Whether it is of this function, whose own nodes must not be known yet, and the others must."""
        return (
            self.function is function
            and known.keys().isdisjoint(self.nodes)
            and all(other in known for other in self.others)
        )

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
class Kept:
    """The functions of the program that was written last, and those of the one that is being written."""

    last: dict[int, KeptFunction] = field(default_factory=dict)  # by identity of the function
    next: dict[int, KeptFunction] = field(default_factory=dict)

    def turn(self) -> None:
        """The program is written: its functions are what is kept."""
        self.last, self.next = self.next, {}


def kept_function(
    function: Function, parts: Sequence[Any], first: int, known: Sequence[int], types: int
) -> KeptFunction:
    """What is kept of a function that was written in parts: bytes and numbers, from ``first`` on its own.

    ``known`` are the identities of all nodes by number.
    """
    places = [place for place, part in enumerate(parts) if type(part) is int]
    others = sorted({parts[place] for place in places if parts[place] < first})
    from_end = {number: at - len(others) for at, number in enumerate(others)}
    numbers = [number - first if (number := parts[place]) >= first else from_end[number] for place in places]
    texts = [b"".join(parts[start + 1 : end]) for start, end in pairwise([-1, *places, len(parts)])]
    return KeptFunction(function, known[first:], [known[other] for other in others], types, texts, numbers)
