"""Global memory that lanes share: a lane may read what it stored itself, not what the other one stores."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_value, gap_and_step
from pypto_tmpl.ir.bodies import evaluated
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import Kernel, Loop
from pypto_tmpl.passes.pipelining.memory import Memory
from pypto_tmpl.rewrite import substitute

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """What a lane touches of a tensor: where it begins, and how large it is where that is known."""

    tensor: ir.Var
    starts: Sequence[ir.Expr]
    sizes: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store: what each lane touches, anything where that is not known.

    Where it is no part of a lane, both do the same. In a region that is written for lanes (``region``), its
    author says what these touch.
    """

    stmt: ir.Stmt
    windows: tuple[Window, Window] | None
    is_store: bool
    is_part: bool
    region: ir.Stmt | None = None

    @property
    def key(self) -> object:
        """The same for accesses of one window, as far as numbers and names tell it."""
        if self.windows is None or (self.is_store and not self.is_part):
            return id(self.stmt)
        told = [(id(window.tensor), *map(_told, window.starts), *window.sizes) for window in self.windows]
        return self.is_store, self.is_part, id(self.region), *told


class LaneMemory:
    """What the lanes of a kernel load and store, and whether one of them meets what the other one stores.

    A variable that a loop defines may have another value on the other lane, which may be in another round.
    """

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        self._kernel, self._memory = kernel, memory
        self._accesses: dict[int, list[Access]] = defaultdict(list)
        self._noted: set[int] = set()
        self._looped: set[int] = set()  # statements that a loop is around
        self._fixed = set(map(id, kernel.function.params))
        self._indices: list[ir.Var] = []
        self._counted: dict[ir.Var, ir.Expr] = {}  # indices of loops by the number of the round
        for stmt in kernel.statements:
            parent = kernel.parent.get(id(stmt))
            if isinstance(parent, Loop) or id(parent) in self._looped:
                self._looped.add(id(stmt))
            if isinstance(stmt, ir.ForStmt):
                step = ir.Mul(stmt.loop_var, stmt.step, ir.DataType.INDEX, stmt.span)
                start = substitute(self._memory.followed(stmt.start), self._counted)
                self._counted[stmt.loop_var] = ir.Add(start, step, ir.DataType.INDEX, stmt.span)
            if isinstance(stmt, ir.AssignStmt):
                if facts.of_value(stmt.value).has("lane_index"):
                    self._indices.append(stmt.var)
                elif id(stmt) not in self._looped:
                    self._fixed.add(id(stmt.var))

    def note(
        self,
        stmt: ir.Stmt,
        tensor: ir.Expr,
        offsets: Sequence[ir.Expr],
        extents: Sequence[ir.Expr],
        shared: tuple[int, int] | None,
        is_store: bool,
    ) -> None:
        """Note a load or store of a window, as written for both lanes.

        ``shared`` is the dimension that they share, and how far apart they start in it.
        """
        if not isinstance(tensor, ir.Var):
            return
        self._noted.add(id(stmt))
        sizes = [constant_extent(extent) for extent in extents]
        one, other = self._of_lanes(tensor, offsets, sizes)
        if shared is not None:
            place, step = shared
            size = sizes[place]
            assert size is not None
            distance = ir.ConstInt(step, ir.DataType.INDEX, stmt.span)
            moved = ir.Add(other.starts[place], distance, ir.DataType.INDEX, stmt.span)
            one = Window(one.tensor, one.starts, _put(sizes, place, min(step, size)))
            rest = _put(sizes, place, min(step, size - step))
            other = Window(one.tensor, _put(other.starts, place, moved), rest)
        self._accesses[self._memory.storage(tensor)].append(
            Access(stmt, (one, other), is_store, one is not other)
        )

    def check(self) -> None:
        """Raise PassError where a lane could read or write what the other lane stores, in no order."""
        for stmt in self._kernel.statements:
            is_simple = isinstance(stmt, ir.AssignStmt | ir.EvalStmt) and id(stmt) not in self._noted
            if is_simple and _is_signal(stmt):
                continue  # whose cells may change at any time
            if is_simple and self._kernel.side(stmt) is not CoreSide.CUBE:
                self._note_as_written(stmt)
        for storage, found in self._accesses.items():
            if any(access.is_store for access in found):
                self._check(storage, found)

    def _note_as_written(self, stmt: ir.Stmt) -> None:
        """Note what a statement touches that is not halved: both lanes do it, by their indices."""
        around = self._kernel.around(stmt)
        region = next((outer for outer in around if isinstance(outer, ir.SplitAivScopeStmt)), None)
        for touch in self._memory.touches(stmt):
            if not touch.in_tensor:
                continue
            windows, place = None, touch.place
            if place is not None:
                windows = self._of_lanes(place.tensor, place.offsets, place.shape)
            is_part = windows is not None and windows[0] is not windows[1]
            self._accesses[touch.storage].append(Access(stmt, windows, touch.writes, is_part, region))

    def _of_lanes(
        self, tensor: ir.Var, offsets: Sequence[ir.Expr], sizes: Sequence[int | None]
    ) -> tuple[Window, Window]:
        """What each lane touches of a window, which the index of a lane may say; else one for both."""
        starts = [substitute(self._memory.followed(offset), self._counted) for offset in offsets]
        names = {id(node) for start in starts for node in ir.walk(start)}
        one = Window(self._memory.origin(tensor), starts, sizes)
        if not any(id(index) in names for index in self._indices):
            return one, one
        windows = []
        for lane in (0, 1):
            number = ir.ConstInt(lane, ir.DataType.INDEX, self._kernel.function.span)
            values: dict[ir.Var, ir.Expr] = dict.fromkeys(self._indices, number)
            windows.append(Window(one.tensor, [substitute(start, values) for start in starts], sizes))
        return windows[0], windows[1]

    def _check(self, storage: int, found: list[Access]) -> None:
        for first, second in _pairs(found):
            if self._is_ordered(first, second, found) or not self._meet(first, second):
                continue
            params = self._kernel.function.params
            met = [param for param in params if self._memory.storage(param) == storage]
            names = " or ".join(repr(param.name_hint) for param in met)
            what = f"a lane may meet cells of {names} that the other lane stores, in no order"
            raise PassError(what, self._kernel.function, second.stmt, met[0])

    def _is_ordered(self, first: Access, second: Access, found: list[Access]) -> bool:
        """Whether it does not matter which lane comes first, or the author of a region has to see to it."""
        if not (first.is_store or second.is_store):
            return True
        if first.region is not None and first.region is second.region:
            return id(first.region) not in self._looped
        if first.is_part or second.is_part:
            return False
        if first.is_store and second.is_store:
            return True  # each lane ends with what the other one ends with
        # The one store, in no loop, leaves the same whichever lane it is that has done it before the load.
        store, load = (first, second) if first.is_store else (second, first)
        number = self._kernel.number
        stores = sum(access.is_store for access in found)
        is_before = number[id(store.stmt)] < number[id(load.stmt)]
        return stores == 1 and is_before and id(store.stmt) not in self._looped

    def _meet(self, first: Access, second: Access) -> bool:
        """Whether one lane may touch in one access what the other lane touches in the other one."""
        if first.windows is None or second.windows is None:
            return True
        pairs = ((first.windows[0], second.windows[1]), (first.windows[1], second.windows[0]))
        return not all(self._are_apart(one, other) for one, other in pairs)

    def _are_apart(self, one: Window, other: Window) -> bool:
        if one.tensor is not other.tensor or len(one.starts) != len(other.starts):
            return False
        return any(map(self._is_past, one.starts, one.sizes, other.starts, other.sizes))

    def _is_past(self, start: ir.Expr, size: int | None, other: ir.Expr, other_size: int | None) -> bool:
        """Whether two spans have nothing in common, in whichever rounds the lanes are."""
        if size is None or other_size is None:
            return False
        gap, step = gap_and_step(other, start, self._is_fixed)
        if not step:
            return gap >= size or -gap >= other_size
        return gap % step >= size and step - gap % step >= other_size

    def _is_fixed(self, atom: ir.Expr) -> bool:
        nodes = list(ir.walk(atom))
        names = (node for node in nodes if isinstance(node, ir.Var))
        return all(id(var) in self._fixed for var in names) and not any(isinstance(n, ir.Call) for n in nodes)


def _told(start: ir.Expr) -> object:
    return start.value if isinstance(start, ir.ConstInt) else id(start)


def _put(values: Sequence[T], place: int, value: T) -> list[T]:
    return [*values[:place], value, *values[place + 1 :]]


def _pairs(accesses: list[Access]) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses, one of each window, that are not apart along an axis by their constants."""
    windows: dict[object, Access] = {}
    for access in accesses:
        windows.setdefault(access.key, access)
    axis = _axis(windows.values())
    fixed, free = [], []
    for access in windows.values():
        span = _span(access, axis)
        if span is None:
            free.append(access)
        else:
            fixed.append((*span, access))
    fixed.sort(key=lambda window: window[0])
    for place, (_, end, first) in enumerate(fixed):
        for start, _, second in itertools.islice(fixed, place, None):
            if start >= end:
                break
            yield first, second
    for place, first in enumerate(free):
        yield from ((first, second) for second in free[: place + 1])
        yield from ((first, second) for _, _, second in fixed)


def _axis(accesses: Iterable[Access]) -> int:
    """The axis along which most windows begin at a constant place of their own."""
    starts: dict[int, set[int]] = defaultdict(set)
    for access in accesses:
        for axis, start in enumerate(access.windows[0].starts if access.windows is not None else ()):
            if isinstance(start, ir.ConstInt):
                starts[axis].add(start.value)
    return max(starts, key=lambda axis: len(starts[axis]), default=0)


def _span(access: Access, axis: int) -> tuple[int, int] | None:
    """From where to where both lanes reach along an axis."""
    if access.windows is None or axis >= len(access.windows[0].starts):
        return None
    starts = [constant_value(window.starts[axis]) for window in access.windows]
    sizes = [window.sizes[axis] for window in access.windows]
    low = [start for start in starts if start is not None]
    high = [
        start + size
        for start, size in zip(starts, sizes, strict=True)
        if start is not None and size is not None
    ]
    return (min(low), max(high)) if len(high) == len(starts) else None


def _is_signal(stmt: ir.Stmt) -> bool:
    value = evaluated(stmt)
    return value is not None and facts.of_value(value).has("signals")
