"""In which order the statements of a body must stay, and the best one within that."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.passes.pipelining.memory import Memory, Touch, is_event

Key: TypeAlias = tuple[int, ...] | tuple[int, str, int]

MAX_COMPARED = 64
"""With how many accesses of one storage a further one is compared; past that it stays behind all of them."""


class Order:
    """What must come before what in one list of statements.

    A statement stays behind those that define what it names, behind those whose order with it shows in
    memory, and what other cores notice stays in its order, accesses of tensors that other cores change
    included.
    """

    def __init__(self, stmts: Sequence[ir.Stmt], memory: Memory, contended: Callable[[int], bool]) -> None:
        self._contended = contended
        self._after: list[set[int]] = []
        self._defined: dict[int, int] = {}
        self._touched: dict[int, list[tuple[int, Touch]]] = {}
        self._events: list[int] = []
        self._since: list[int] = []  # accesses of contended tensors behind the last event
        touches = [memory.touches(stmt) for stmt in stmts]
        self._written = {touch.storage for found in touches for touch in found if touch.writes}
        for place, (stmt, found) in enumerate(zip(stmts, touches, strict=True)):
            self._after.append(set(self._needed(place, stmt, found)))

    def sorted(self, keys: Sequence[Key]) -> list[int]:
        """The places of the statements by their keys, the earliest first among those that may come next."""
        followers: list[list[int]] = [[] for _ in self._after]
        missing = [len(needed) for needed in self._after]
        for place, needed in enumerate(self._after):
            for other in needed:
                followers[other].append(place)
        ready = [(keys[place], place) for place, count in enumerate(missing) if not count]
        heapq.heapify(ready)
        found: list[int] = []
        while ready:
            _, place = heapq.heappop(ready)
            found.append(place)
            for other in followers[place]:
                missing[other] -= 1
                if not missing[other]:
                    heapq.heappush(ready, (keys[other], other))
        return found

    def _needed(self, place: int, stmt: ir.Stmt, touches: list[Touch]) -> Iterable[int]:
        """The places of the statements that one must stay behind."""
        for node in ir.walk(stmt):
            if isinstance(node, ir.Var) and id(node) in self._defined:
                yield self._defined[id(node)]
        for inner in statements(stmt):
            for var in definitions(inner):
                self._defined[id(var)] = place
        for touch in touches:
            if touch.storage in self._written:
                yield from self._conflicts(place, touch)
        is_shared = any(touch.in_tensor and self._contended(touch.storage) for touch in touches)
        if is_event(stmt):
            yield from self._events[-1:]
            yield from self._since
            self._events.append(place)
            self._since = []
        elif is_shared:
            yield from self._events[-1:]
            self._since.append(place)

    def _conflicts(self, place: int, touch: Touch) -> Iterable[int]:
        before = self._touched.setdefault(touch.storage, [])
        if len(before) >= MAX_COMPARED:
            yield from (other for other, _ in before if other != place)
            before[:] = [(place, Touch(touch.storage, True, touch.in_tensor, None))]
            return
        yield from (other for other, found in before if other != place and touch.conflicts_with(found))
        before.append((place, touch))
