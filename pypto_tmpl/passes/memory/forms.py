"""As what tiles lie: carries and results, whose declared types may be wider, lie as what they come from."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import same_extents
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.rewrite import build
from pypto_tmpl.storage.places import lies_alike, value_of


class Forms:
    """The types by which the bytes of the tiles of a function are read.

    A carry lies as what its loop starts with, the result of a loop as the carry, that of a branch as what the
    first side yields, and a second name as the tile.
    """

    def __init__(self, function: ir.Function) -> None:
        self._sources: dict[int, ir.Var] = {}
        for var, stmt in all_definitions(function):
            source = value_of(var, stmt) if isinstance(var.type, ir.TileType) else None
            if isinstance(source, ir.Var):
                self._sources.setdefault(id(var), source)

    def of(self, value: ir.Expr) -> ir.TileType:
        """The type of a tile, with the extents and the layout that it has in memory."""
        root = value
        while (source := self._sources.get(id(root))) is not None:
            root = source
        own, form = value.type, root.type
        assert isinstance(own, ir.TileType) and isinstance(form, ir.TileType)
        if lies_alike(own, form):
            return own
        return laid_as(own, form) if same_extents(own.shape, form.shape) else form


def laid_as(type_: ir.TileType, form: ir.TileType) -> ir.TileType:
    """The type of the same elements in the layout of another tile of that shape."""
    view = form.get_effective_tile_view()
    layout = {"blayout": view.blayout, "slayout": view.slayout, "fractal": view.fractal}
    return build(type_, tile_view=build(type_.get_effective_tile_view(), **layout))
