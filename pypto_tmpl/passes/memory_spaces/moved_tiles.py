"""Tiles that were brought to another memory space, as long as that is what they are."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.types import implicit_tile_view
from pypto_tmpl.ops import facts
from pypto_tmpl.rewrite import build

_Copies = dict[tuple[int, MemorySpace], ir.Var]


class MovedTiles:
    """The moved tiles that statements behind may use too.

    A move serves the rest of its sequence of statements, and no other one: those around it need not run it.
    What is written in place, perhaps through a view, is moved again.
    """

    def __init__(self) -> None:
        self._levels: list[dict[int, _Copies]] = [{}]
        self._storage: dict[int, int] = {}
        self._alive: list[ir.Var] = []  # what ids are of

    def enter(self) -> None:
        """A sequence of statements begins."""
        self._levels.append({})

    def leave(self) -> None:
        """The sequence ends."""
        self._levels.pop()

    def get(self, tile: ir.Var, space: MemorySpace) -> ir.Var | None:
        """The tile in another space, None where it was not moved there."""
        return self._levels[-1].get(self._of(tile), {}).get((id(tile), space))

    def add(self, tile: ir.Var, moved: ir.Var) -> None:
        """Remember a moved tile."""
        space = space_of(moved)
        assert space is not None
        self._levels[-1].setdefault(self._of(tile), {})[id(tile), space] = moved
        self._alive.append(tile)

    def note(self, var: ir.Var, value: ir.Expr) -> None:
        """Say what a variable is bound to, which may be the storage of another one."""
        source: ir.Expr | None = value
        if isinstance(value, ir.Call):
            known = facts.of_value(value)
            place = known.view_of if known.returned is None else known.returned
            source = value.args[place] if place is not None else None
        if isinstance(source, ir.Var):
            self._storage[id(var)] = self._of(source)
            self._alive += (var, source)

    def forget_written(self, call: ir.Call) -> None:
        """Forget moved tiles of storage that a call writes."""
        for place in facts.of_value(call).written:
            target = call.args[place] if place < len(call.args) else None
            if isinstance(target, ir.Var):
                for level in self._levels:
                    level.pop(self._of(target), None)

    def _of(self, tile: ir.Var) -> int:
        return self._storage.get(id(tile), id(tile))


def space_of(value: ir.Expr) -> MemorySpace | None:
    """The memory space that the type of a tile says."""
    return value.type.memory_space if isinstance(value.type, ir.TileType) else None


def in_space(type_: ir.Type, space: MemorySpace | None) -> ir.Type:
    """The type of a tile in a memory space; in another one than before it lies as tiles do by themselves."""
    if not isinstance(type_, ir.TileType) or type_.memory_space is space or space is None:
        return type_
    view = None
    if type_.tile_view is not None and type_.tile_view.valid_shape:
        view = build(implicit_tile_view(type_.shape, space), valid_shape=type_.tile_view.valid_shape)
    return ir.TileType(type_.shape, type_.dtype, None, view, space)
