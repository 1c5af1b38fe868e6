"""allreduce in kernels, chunk by chunk over all ranks (mesh): each rank reads the parts of all others."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.passes.tiles.ranks import Ranks, number
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.reduced_parts import Box, box_of, elements_of
from pypto_tmpl.passes.tiles.reductions import COMBINES, Piece, Reduction, RowReduction, as_expr
from pypto_tmpl.passes.tiles.ring_reduce import RingReduction
from pypto_tmpl.passes.tiles.views import packed_view


def all_reduce(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Reduce a window over all ranks, in place; elements that are not valid stay."""
    target, signal = call.args
    assert isinstance(target.type, ir.TensorType)
    ranks, combine, dtype = Ranks(recipe, signal), COMBINES[call.kwargs["op"]], target.type.dtype
    if call.kwargs.get("mode", "mesh") == "ring":
        RingReduction(ranks, combine, dtype, elements_of(recipe, target)).run(target)
        return target
    box = box_of(recipe, target)
    if box is None:
        _Mesh(ranks, combine, dtype, elements_of(recipe, target)).run(target)
    else:
        _BoxedMesh(ranks, combine, dtype, box).run(target)
    return target


class _Mesh(RowReduction):
    """The whole window in chunks; before a rank writes its own chunk, all have read it."""

    __slots__ = ()

    def run(self, target: ir.Expr) -> None:
        ranks, recipe = self.ranks, self.recipe
        ranks.enter(target)
        window = self.row(target)
        ranks.barrier()
        chunk = self.chunk(self.elements)
        ranks.span_loop("col", 0, self.elements, chunk, lambda column: self._part(window, column, chunk))
        chunks = ir.floordiv(ir.add(self.elements, ir.sub(number(chunk), number(1))), number(chunk))
        total = ir.cast(ir.add(number(1), chunks), ir.DataType.INT32)
        ranks.reset(recipe.let("allreduce_reset_total", total))

    def _part(self, window: ir.Var, column: ir.Var, chunk: int) -> None:
        ranks, recipe = self.ranks, self.recipe
        valid = ir.min_(number(chunk), ir.sub(as_expr(self.elements), column))
        piece = Piece([0, column], [1, chunk], [1, valid])
        first = self.local("acc_initial", window, piece, "acc_loaded")

        def add(rank: ir.Var, total: ir.Expr) -> ir.Expr:
            rest = ir.sub(self.elements, column)
            received = self.received("recv", window, rank, piece, self.elements, rest)
            return recipe.let("acc_next", recipe.emit(self.combine, total, received))

        total = ranks.folded(first, add)
        expected = ir.cast(ir.add(ir.floordiv(column, chunk), 2), ir.DataType.INT32)
        ranks.barrier("_chunk", recipe.let("chunk_expected", expected))
        value = recipe.let("store_value", recipe.emit("tile.set_validshape", total, 1, valid))
        recipe.let("store_ret", recipe.emit("tile.store", value, [0, column], window))


@dataclass(slots=True)
class _BoxedMesh(Reduction):
    """The valid rectangle of a window at once."""

    box: Box

    def run(self, target: ir.Expr) -> None:
        ranks, recipe, box = self.ranks, self.recipe, self.box
        ranks.enter(target)
        window = recipe.let("target_2d", packed_view(target, box.matrix, recipe.call.span))
        ranks.barrier()
        piece = Piece([0, 0], box.tile, box.valid)
        first = self.local("acc_initial", window, piece, "acc_loaded")

        def add(rank: ir.Var, total: ir.Expr) -> ir.Expr:
            rest = as_expr(box.valid[1])
            received = self.received("recv", window, rank, piece, box.matrix[1], rest)
            return recipe.let("acc_next", recipe.emit(self.combine, total, received))

        total = ranks.folded(first, add)
        ranks.barrier("_chunk")
        value = recipe.let("store_value", recipe.emit("tile.set_validshape", total, *box.valid))
        recipe.let("store_ret", recipe.emit("tile.store", value, [0, 0], window))
        ranks.reset()
