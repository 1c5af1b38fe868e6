"""What runs before what on two cores that wait for each other where tiles cross."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.cores.kernel import Kernel, Loop
from pypto_tmpl.passes.cores.transfers import Transfer

_BEHIND = 0.5
"""A token is pushed right behind a statement and popped right before one."""


class CoreOrder:
    """Whether one core has done a statement when the other one comes to a statement of its own.

    It has where a tile crosses to that core in between. The tile must surely cross: the statement that hands
    it over stands in a body around one of the two.
    """

    def __init__(self, kernel: Kernel, transfers: Iterable[Transfer]) -> None:
        self._kernel = kernel
        # Places of the push and the pop of what crosses to a core in a body.
        self._crossing: dict[tuple[int, CoreSide], list[tuple[float, float]]] = defaultdict(list)
        self._jumps = [
            kernel.number[id(stmt)]
            for stmt in kernel.statements
            if isinstance(stmt, ir.BreakStmt | ir.ContinueStmt | ir.ReturnStmt)
        ]
        for transfer in transfers:
            place = kernel.number[id(transfer.stmt)]
            self._add(transfer.stmt, transfer.consumer, place, place)
        for found in self._crossing.values():
            found.sort()

    def add_token(self, consumer: CoreSide, behind: ir.Stmt, before: ir.Stmt | None) -> None:
        """A token is pushed behind one statement, and popped before another one or at the end of the body."""
        body = self._kernel.parent[id(behind)]
        popped = self._kernel.end(body) if before is None else self._kernel.number[id(before)] - 2 * _BEHIND
        self._add(behind, consumer, self._kernel.end(behind) + _BEHIND, popped + _BEHIND)
        self._crossing[id(body), consumer].sort()

    def is_ordered(self, first: ir.Stmt, second: ir.Stmt, consumer: CoreSide) -> bool:
        """Whether ``consumer`` waits before ``second``, in the same rounds, for ``first``."""
        start, end = self._kernel.number[id(first)], self._kernel.number[id(second)]
        return any(
            popped < end and (is_before or not self._jumps_between(start, pushed))
            for body, is_before in self._bodies(first, second)
            for pushed, popped in self._behind(body, consumer, start)
        )

    def is_ordered_in_rounds(
        self, first: ir.Stmt, second: ir.Stmt, consumer: CoreSide, loop: ir.Stmt
    ) -> bool:
        """Whether ``consumer`` waits before ``second`` for ``first`` of earlier rounds of ``loop``."""
        start, end = self._kernel.number[id(first)], self._kernel.number[id(second)]
        for body in self._inside(first, loop):
            for pushed, _ in self._behind(body, consumer, start):
                if not self._jumps_between(start, pushed):
                    return True
        return any(
            popped < end
            for body in self._inside(second, loop)
            for _, popped in self._crossing.get((id(body), consumer), [])[:1]
        )

    def are_alternatives(self, first: ir.Stmt, second: ir.Stmt) -> bool:
        """Whether the two stand in different branches, of which one runs."""
        outer = {id(stmt) for stmt in self._kernel.around(first)}
        common = next((stmt for stmt in self._kernel.around(second) if id(stmt) in outer), None)
        return isinstance(common, ir.IfStmt)

    def common_loops(self, first: ir.Stmt, second: ir.Stmt) -> list[Loop]:
        """The loops around both statements, the innermost first."""
        outer = {id(stmt) for stmt in self._kernel.around(first)}
        return [s for s in self._kernel.around(second) if id(s) in outer and isinstance(s, Loop)]

    def _add(self, stmt: ir.Stmt, consumer: CoreSide, pushed: float, popped: float) -> None:
        body = self._kernel.parent[id(stmt)]
        if not isinstance(body, ir.IfStmt):  # the whole of a branch, with nothing beside it
            self._crossing[id(body), consumer].append((pushed, popped))

    def _behind(self, body: ir.Stmt, consumer: CoreSide, start: int) -> Sequence[tuple[float, float]]:
        """What crosses in a body behind a place: of what is pushed there, that which is popped first."""
        found = self._crossing.get((id(body), consumer), [])
        at = bisect_left(found, (start, start))
        return found[at : at + 1]

    def _bodies(self, first: ir.Stmt, second: ir.Stmt) -> Iterator[tuple[ir.Stmt, bool]]:
        """The bodies around either statement, and whether they are around the second one."""
        yield from ((body, True) for body in self._kernel.around(second))
        yield from ((body, False) for body in self._kernel.around(first))

    def _inside(self, stmt: ir.Stmt, loop: ir.Stmt) -> Iterator[ir.Stmt]:
        """The statements around one, up to a loop."""
        for outer in self._kernel.around(stmt):
            yield outer
            if outer is loop:
                return

    def _jumps_between(self, start: float, end: float) -> bool:
        at = bisect_left(self._jumps, start)
        return at < len(self._jumps) and self._jumps[at] < end
