"""Accesses of global memory on both cores: which of them meet in the same cells, now or in other rounds."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, simplify
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.cores.kernel import Loop
from pypto_tmpl.passes.pipelining.loops import moved_by
from pypto_tmpl.passes.pipelining.memory import Place
from pypto_tmpl.passes.scalars.ranges import Range
from pypto_tmpl.passes.tensor.windows import bounds, loop_ranges
from pypto_tmpl.rewrite import substitute

_LANES = Range(0, 1)


@dataclass(frozen=True, slots=True)
class Access:
    """What a statement does to a tensor, on the cores that run it; all of it where there is no place."""

    stmt: ir.Stmt
    tensor: ir.Var
    sides: frozenset[CoreSide]
    writes: bool
    adds: bool  # atomically, so that the order does not show
    place: Place | None

    def conflicts_with(self, other: Access) -> bool:
        """Whether the order of the two shows where they meet."""
        return (self.writes or other.writes) and not (self.adds and other.adds)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two accesses whose order shows, and nothing makes the core of the second one wait for the first.

    The second one is in the same rounds of all loops, or in a later round of ``loop``.
    """

    first: Access
    second: Access
    consumer: CoreSide
    loop: Loop | None


def meeting(accesses: Sequence[Access]) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses of a tensor, in the order of the text, that constants do not tell apart.

    They are looked for along the axis on which most accesses begin at different constants.
    """
    fixed: list[tuple[int, int, int]] = []
    free: list[int] = []
    axis = _telling_axis(accesses)
    is_one = len({id(access.place.tensor) for access in accesses if access.place is not None}) == 1
    for number, access in enumerate(accesses):
        start = _start(access, axis)
        if start is None or access.place is None or not is_one:
            free.append(number)
        else:
            fixed.append((start, start + access.place.shape[axis], number))
    fixed.sort()
    for index, (_, end, one) in enumerate(fixed):
        for start, _, other in itertools.islice(fixed, index + 1, None):
            if start >= end:
                break
            yield accesses[min(one, other)], accesses[max(one, other)]
    for index, one in enumerate(free):
        for other in (*free[:index], *(number for _, _, number in fixed)):
            yield accesses[min(one, other)], accesses[max(one, other)]


def _telling_axis(accesses: Sequence[Access]) -> int:
    starts: dict[int, set[int]] = defaultdict(set)
    for access in accesses:
        for axis in range(len(access.place.offsets) if access.place is not None else 0):
            start = _start(access, axis)
            if start is not None:
                starts[axis].add(start)
    return max(starts, key=lambda axis: len(starts[axis]), default=0)


def _start(access: Access, axis: int) -> int | None:
    if access.place is None or axis >= len(access.place.offsets):
        return None
    return constant_extent(access.place.offsets[axis])


class Rounds:
    """Where windows move to in later rounds of loops."""

    def __init__(self, stmts: Iterable[ir.Stmt]) -> None:
        found = list(stmts)
        self._ranges = loop_ranges(found)
        for stmt in found:
            if isinstance(stmt, ir.AssignStmt) and facts.of_value(stmt.value).has("lane_index"):
                self._ranges[id(stmt.var)] = _LANES
        self._inside: dict[int, set[int]] = {}

    def are_apart_at_once(self, first: Access, second: Access) -> bool:
        """Whether the two have no cell in common in the same rounds of the loops around both."""
        one, other = first.place, second.place
        if (
            one is None
            or other is None
            or one.tensor is not other.tensor
            or len(one.shape) != len(other.shape)
        ):
            return False
        for start, size, later, later_size in zip(
            one.offsets, one.shape, other.offsets, other.shape, strict=True
        ):
            gap = bounds(simplify(ir.sub(later, start, later.span)), self._ranges)
            if (gap.low is not None and gap.low >= size) or (
                gap.high is not None and -gap.high >= later_size
            ):
                return True
        return False

    def are_apart(self, first: Access, later: Access, loop: ir.Stmt) -> bool:
        """Whether ``later`` has no cell in common with ``first`` of any earlier round of ``loop``."""
        if not isinstance(loop, ir.ForStmt) or first.place is None or later.place is None:
            return False
        one, other = first.place, later.place
        if one.tensor is not other.tensor or len(one.shape) != len(other.shape):
            return False
        indices = self._ranges.get(id(loop.loop_var))
        if indices is not None and indices.low == indices.high:
            return True  # there is one round
        step = constant_extent(loop.step)
        return step is not None and any(
            self._are_apart(*windows, loop, step)
            for windows in zip(one.offsets, one.shape, other.offsets, other.shape, strict=True)
        )

    def _are_apart(
        self, start: ir.Expr, size: int, later: ir.Expr, later_size: int, loop: ir.ForStmt, step: int
    ) -> bool:
        """The same along one axis: the window moves on by more than it, and always to the same side."""
        var = loop.loop_var
        moved = substitute(later, {var: moved_by(var, step)})
        stride = constant_difference(moved, later)
        if not stride:
            return False
        fresh = self._of_other_round(start, loop)
        ranges = {id(new): self._ranges[id(old)] for old, new in fresh.items() if id(old) in self._ranges}
        gap = bounds(simplify(ir.sub(moved, substitute(start, fresh), loop.span)), self._ranges | ranges)
        if stride > 0:
            return gap.low is not None and gap.low >= size
        return gap.high is not None and -gap.high >= later_size

    def _of_other_round(self, expr: ir.Expr, loop: ir.ForStmt) -> dict[ir.Var, ir.Var]:
        """Variables for those of a loop but its index: they have another value in each of its rounds."""
        if id(loop) not in self._inside:
            inner = (var for stmt in statements(loop.body) for var in definitions(stmt))
            self._inside[id(loop)] = {id(var) for var in (*loop.iter_args, *inner)}
        inside = self._inside[id(loop)]
        return {
            node: ir.Var(node.name_hint, node.type, node.span)
            for node in ir.walk(expr)
            if isinstance(node, ir.Var) and id(node) in inside
        }
