"""Global memory that lanes share: a lane may read what it stored itself, not what the other one stores."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent, same_extent
from pypto_tmpl.passes.base import PassError


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store: the window as written for both lanes, and the dimension that they share, if any."""

    stmt: ir.Stmt
    offsets: Sequence[ir.Expr]
    extents: Sequence[ir.Expr]
    shared: int | None
    is_store: bool

    def is_alike(self, other: Access) -> bool:
        """Whether the lanes share both windows in the same way: each has the same part of either."""
        place = self.shared
        return (
            place is not None
            and place == other.shared
            and same_extent(self.extents[place], other.extents[place])
            and same_extent(self.offsets[place], other.offsets[place])
        )

    @property
    def key(self) -> object:
        """The same for accesses of one window, as far as numbers and names tell it."""
        parts = (*self.offsets, *self.extents)
        told = tuple(part.value if isinstance(part, ir.ConstInt) else id(part) for part in parts)
        return self.shared, self.is_store, told

    def is_apart(self, other: Access) -> bool:
        """Whether the windows have no cell in common, by their constants."""
        return any(map(_are_apart, self.offsets, self.extents, other.offsets, other.extents))


def check_lanes_apart(accesses: Iterable[tuple[ir.Var, Access]], function: ir.Function) -> None:
    """Raise PassError where a lane could read or write what the other lane stores: nothing orders the two."""
    of_tensor: dict[ir.Var, list[Access]] = defaultdict(list)
    for tensor, access in accesses:
        of_tensor[tensor].append(access)
    for tensor, found in of_tensor.items():
        shared = next((one.shared for one in found if one.is_store and one.shared is not None), None)
        if shared is None or all(one.is_alike(found[0]) for one in found):
            continue
        for first, second in _meeting(found, shared):
            is_written = any(one.is_store and one.shared is not None for one in (first, second))
            if is_written and not first.is_alike(second) and not first.is_apart(second):
                what = (
                    f"a lane may meet cells of {tensor.name_hint!r} that the other lane stores, in no order"
                )
                raise PassError(what, function, second.stmt)


def _meeting(accesses: list[Access], place: int) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses, one of each window, that are not apart along a dimension by their constants."""
    windows: dict[object, Access] = {}
    for access in accesses:
        windows.setdefault(access.key, access)
    fixed, free = [], []
    for access in windows.values():
        start, extent = constant_extent(access.offsets[place]), constant_extent(access.extents[place])
        if start is None or extent is None:
            free.append(access)
        else:
            fixed.append((start, start + extent, access))
    fixed.sort(key=lambda window: window[0])
    for index, (_, end, first) in enumerate(fixed):
        for start, _, second in itertools.islice(fixed, index + 1, None):
            if start >= end:
                break
            yield first, second
    for index, first in enumerate(free):
        yield from ((first, second) for second in free[:index])
        yield from ((first, second) for _, _, second in fixed)


def _are_apart(start: ir.Expr, extent: ir.Expr, other: ir.Expr, other_extent: ir.Expr) -> bool:
    begin, size, begin_other, size_other = map(constant_extent, (start, extent, other, other_extent))
    if begin is None or size is None or begin_other is None or size_other is None:
        return False
    return begin + size <= begin_other or begin_other + size_other <= begin
