"""How a tile is halved for two vector lanes: extents, valid extents, offsets and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import DataType
from pypto_tmpl.ir.extents import constant_extent, same_extent
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.rewrite import Names, build

AXES = 2


@dataclass(frozen=True, slots=True)
class Lane:
    """One of two lanes: the axis that the kernel is split along, the lane's index, how far apart they start.

    A lane has half of the box, rounded up; without a distance of its own (``stride``) it starts there too.
    """

    function: ir.Function
    axis: int
    index: ir.Var
    stride: int | None = None

    def is_wide(self, type_: ir.Type, axis: int | None = None) -> bool:
        """Whether a tile has more than one cell along an axis, by default the one of the split."""
        at = self.axis if axis is None else axis
        return (
            isinstance(type_, ir.TileType)
            and len(type_.shape) == AXES
            and constant_extent(type_.shape[at]) != 1
        )

    def box(self, extent: ir.Expr, by: ir.IRNode) -> int:
        """Half of an extent, rounded up; raises PassError for one that is no constant."""
        value = constant_extent(extent)
        if value is None:
            what = "an extent along the axis that the lanes share is no constant: it may be odd"
            raise PassError(what, self.function, by)
        return -(-value // 2)

    def step(self, extent: ir.Expr, by: ir.IRNode) -> int:
        """How far from the start of the first lane the second one starts."""
        return self.box(extent, by) if self.stride is None else self.stride

    def valid(self, valid: ir.Expr, extent: ir.Expr, by: ir.IRNode) -> ir.Expr:
        """How much of ``valid`` cells this lane has."""
        step = self.step(extent, by)
        if same_extent(valid, extent) and constant_extent(extent) == 2 * step:
            return self._constant(step, by)
        start = self._start(step, by)
        rest = ir.Sub(ir.Max(valid, start, DataType.INDEX, by.span), start, DataType.INDEX, by.span)
        return ir.Min(rest, self._constant(step, by), DataType.INDEX, by.span)

    def offset(self, offset: ir.Expr, extent: ir.Expr, by: ir.IRNode) -> ir.Expr:
        """Where this lane starts of what starts at ``offset``."""
        return ir.Add(offset, self._start(self.step(extent, by), by), DataType.INDEX, by.span)

    def type(self, type_: ir.Type, axis: int, by: ir.IRNode) -> ir.Type:
        """The type of the part of a tile that this lane has along an axis."""
        assert isinstance(type_, ir.TileType)
        view = type_.get_effective_tile_view()
        shape, valid = list(type_.shape), list(view.valid_shape)
        valid[axis] = self.valid(valid[axis], shape[axis], by)
        shape[axis] = self._constant(self.box(shape[axis], by), by)
        return build(type_, shape=tuple(shape), tile_view=build(view, valid_shape=tuple(valid)))

    def halved(self, extents: ir.Expr, place: int, by: ir.IRNode) -> ir.MakeTuple:
        """A list of extents with half of one of them."""
        found = list(elements(extents))
        found[place] = self._constant(self.box(found[place], by), by)
        return ir.MakeTuple(found, extents.span)

    def _start(self, step: int, by: ir.IRNode) -> ir.Expr:
        return ir.Mul(self.index, self._constant(step, by), DataType.INDEX, by.span)

    @staticmethod
    def _constant(value: int, by: ir.IRNode) -> ir.ConstInt:
        return ir.ConstInt(value, DataType.INDEX, by.span)


def elements(values: ir.Expr) -> Sequence[ir.Expr]:
    """The elements of an operand that lists extents or offsets."""
    assert isinstance(values, ir.MakeTuple)
    return values.elements


def replaced_at(values: ir.Expr, place: int, value: ir.Expr) -> ir.MakeTuple:
    """A list of expressions with another one at a place."""
    found = list(elements(values))
    found[place] = value
    return ir.MakeTuple(found, values.span)


def lane_index(names: Names, span: ir.Span) -> tuple[ir.Var, ir.Stmt]:
    """A variable for the index of the lane, and the statement that asks for it."""
    call = ops.call("tile.get_subblock_idx", span=span)
    index = ir.Var(names.unique("subblock_idx"), call.type, span)
    return index, ir.AssignStmt(index, call, span)
