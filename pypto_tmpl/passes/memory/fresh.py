"""Allocations that a pass adds, and copies of tiles."""

from __future__ import annotations

import re
from functools import cached_property

from pypto_tmpl import ir, ops
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory.forms import Forms, laid_as
from pypto_tmpl.passes.memory.placed_tiles import ALLOC, placed, space_of
from pypto_tmpl.rewrite import Names, as_body, base_name, build, flat
from pypto_tmpl.storage.places import lies_alike

_NUMBER = re.compile(r"mem_[a-z]+_(\d+)")


class Fresh:
    """What is new in a function."""

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._allocs: list[ir.Stmt] = []
        taken = [_NUMBER.fullmatch(memref.base_.name_hint) for _, memref, _ in placed(function)]
        self._next = 1 + max((int(found[1]) for found in taken if found), default=-1)

    @cached_property
    def _names(self) -> Names:
        return Names.of(self._function)

    def buffer(self, tile: ir.Var, size: int) -> ir.MemRef:
        """A buffer of its own for a tile, in the memory that it is in."""
        space, span = space_of(tile), tile.span
        base = ir.Var(self._names.unique(f"mem_{space.name.lower()}_{self._next}"), ir.PtrType(), span)
        self._next += 1
        numbers = [ir.ConstInt(number, ir.DataType.INDEX, span) for number in (space.value, size)]
        self._allocs.append(ir.AssignStmt(base, ops.call(ALLOC, *numbers), span))
        return ir.MemRef(base, ir.ConstInt(0, ir.DataType.INT64, span), size)

    @cached_property
    def forms(self) -> Forms:
        """As what the tiles of the function lie."""
        return Forms(self._function)

    def copy(
        self, tile: ir.Var, goal: ir.MemRef, at: ir.Stmt, form: ir.TileType | None = None
    ) -> ir.AssignStmt:
        """The statement that copies a tile to another place. Raises PassError in Acc.

        It comes to lie there as a tile of the type ``form`` does, by default in the layout that it has.
        """
        space = space_of(tile)
        if space is ir.MemorySpace.Acc:
            name = base_name(tile.name_hint)
            what = f"{name!r} has to be kept in another place of Acc, since another value is needed there"
            how = "nothing copies within that memory: store one of them before"
            raise PassError(f"{what}, and {how}", self._function, at, variable=tile)
        own, layout = self.forms.of(tile), {}
        if form is not None and not lies_alike(own, form):
            own, view = laid_as(own, form), form.get_effective_tile_view()
            layout = {"blayout": view.blayout, "slayout": view.slayout}
        type_ = build(own, memref=goal)
        result = build(type_, memref=None)
        call = ops.call("tile.move", tile, target_memory=space, result_type=result, span=tile.span, **layout)
        return ir.AssignStmt(
            ir.Var(self._names.unique(f"{tile.name_hint}_mv"), type_, tile.span), call, tile.span
        )

    def allocated(self, function: ir.Function) -> ir.Function:
        """The function with the new allocations at its start."""
        if not self._allocs:
            return function
        return build(function, body=as_body([*self._allocs, *flat(function.body)], function.body.span))
