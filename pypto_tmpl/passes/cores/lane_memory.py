"""Global memory that lanes share: a lane may read what it stored itself, not what the other one stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
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

    def is_apart(self, other: Access) -> bool:
        """Whether the windows have no cell in common, by their constants."""
        return any(map(_are_apart, self.offsets, self.extents, other.offsets, other.extents))


def check_lanes_apart(accesses: Iterable[tuple[ir.Var, Access]], function: ir.Function) -> None:
    """Raise PassError where a lane could read or write what the other lane stores: nothing orders the two."""
    ways: dict[ir.Var, list[list[Access]]] = defaultdict(list)
    for tensor, access in accesses:
        way = next((way for way in ways[tensor] if way[0].is_alike(access)), None)
        if way is None:
            ways[tensor].append([access])
        else:
            way.append(access)
    for tensor, found in ways.items():
        stores = [one for way in found for one in way if one.is_store and one.shared is not None]
        if len(found) > 1 and stores:
            for way in found:
                _check(tensor, way, stores, function)


def _check(tensor: ir.Var, way: list[Access], stores: list[Access], function: ir.Function) -> None:
    others = [store for store in stores if not store.is_alike(way[0])]
    for access in way:
        store = next((other for other in others if other is not access and not other.is_apart(access)), None)
        if store is not None:
            verb = "write" if access.is_store else "read"
            what = f"a lane may {verb} cells of {tensor.name_hint!r} that the other lane stores, in no order"
            raise PassError(what, function, access.stmt)


def _are_apart(start: ir.Expr, extent: ir.Expr, other: ir.Expr, other_extent: ir.Expr) -> bool:
    begin, size, begin_other, size_other = map(constant_extent, (start, extent, other, other_extent))
    if begin is None or size is None or begin_other is None or size_other is None:
        return False
    return begin + size <= begin_other or begin_other + size_other <= begin
