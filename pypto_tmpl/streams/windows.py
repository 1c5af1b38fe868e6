"""Windows of tensors for loads, stores and the ops that reach global memory, and offsets of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.service_base import ServiceBase
from pypto_tmpl.streams.spelling import constant_of
from pypto_tmpl.streams.tensors import scale_layout
from pypto_tmpl.streams.values import Tensor, Value


def hint_of(expr: ir.Expr) -> str:
    """The name of a variable that windows are called after."""
    return expr.name_hint if isinstance(expr, ir.Var) else ""


class WindowServices(ServiceBase):
    """Windows and offsets."""

    def window(self, tensor: Tensor, var: ir.Expr, offsets: ir.Expr, sizes: ir.Expr) -> Value:
        """The window of a load."""
        return self._tensors.window(tensor, f"{hint_of(var)}_pview", self.parts(offsets), self.parts(sizes))

    def whole(self, tensor: Tensor, var: ir.Expr) -> Value:
        """The window that is the whole tensor."""
        zero = ir.ConstInt(0, DataType.INDEX, var.span)
        shape = tensor.type.shape
        return self._tensors.window(tensor, f"{hint_of(var)}_pview", [zero] * len(shape), shape)

    def valid_extents(self, tile: ir.Expr) -> list[tuple[Value, int | None]]:
        """Rows and columns of a tile's valid region, each with the number that it is."""
        valid = self.tile_of(tile).get_effective_tile_view().valid_shape[:2]
        return [(self._scalars.index(extent), constant_of(extent)) for extent in valid]

    def window_of(
        self,
        tensor: Tensor,
        var: ir.Expr,
        offsets: ir.Expr,
        shapes: ir.Expr | None,
        extents: Sequence[tuple[Value, int | None]],
        tile: ir.Expr,
    ) -> Value:
        """The window of a store: of the tile's valid extents, or of the shapes that the call gives."""
        at = [self._scalars.offset(offset) for offset in self.parts(offsets)]
        sizes = list(extents)
        if shapes is not None and len(at) > 2:
            sizes = [(self._scalars.index(size), constant_of(size)) for size in self.parts(shapes)]
        while len(sizes) < len(at):
            sizes.insert(0, (self._kernel.index_constant(1), 1))
        sizes = sizes[len(sizes) - len(at) :]
        hint = f"{hint_of(var)}_pview"
        values, numbers = [size for size, _ in sizes], [number for _, number in sizes]
        return self._tensors.cut(tensor.view, tensor.type.dtype, hint, at, values, numbers)

    def sdma_workspace(self) -> Value:
        """The workspace of prefetches, which the run time passes."""
        found = self._kernel.sdma_workspace
        assert found is not None
        return found

    def scale_layout(self, tensor: ir.Expr) -> str:
        """The layout that a load of block scales names; empty for any other."""
        return scale_layout(tensor.type)

    def flat_offset(self, of: ir.Expr, indices: ir.Expr) -> Value:
        """The row-major offset of an element; a constant where all indices are."""
        if not isinstance(of.type, ir.TileType | ir.TensorType):
            raise Obstacle("an element is read from a tile or a tensor", of.span)
        shape, at = of.type.shape, self.parts(indices)
        numbers = [constant_of(part) for part in at]
        extents = [constant_of(extent) for extent in shape]
        if None not in numbers and None not in extents[1:]:
            offset = 0
            for number, size in zip(numbers, [1, *extents[1:]], strict=True):
                assert number is not None and size is not None
                offset = offset * size + number
            return self._kernel.index_constant(offset)
        found, *others = [self._scalars.index(part) for part in at]
        for part, extent in zip(others, shape[1:], strict=True):
            found = self._offset_step("flat_offset_mul", "arith.muli", found, self._scalars.index(extent))
            found = self._offset_step("flat_offset", "arith.addi", found, part)
        return found

    def _offset_step(self, hint: str, operation: str, left: Value, right: Value) -> Value:
        result = self._kernel.named(hint, DataType.INDEX)
        self._kernel.line(self._kernel.templates.values.binary(result, operation, left, right))
        return result

    def bind_extent(self, call: Any) -> str:
        """Let the result of ``tensor.dim`` stand for the extent."""
        axis = constant_of(call.raw.axis)
        tensor = call.raw.tensor.type
        if axis is None or not isinstance(tensor, ir.TensorType):
            raise Obstacle("the axis of tensor.dim must be a constant", call.call.span)
        self._kernel.bind(call.var, self._scalars.index(tensor.shape[axis]))
        return ""

    def bind_view(self, call: Any) -> str:
        """Make the view of ``tensor.view`` on the pointer of its tensor."""
        source: Tensor = call.a.input
        kind = call.var.type
        assert isinstance(kind, ir.TensorType)
        view = self._tensors.make_view(source.pointer, kind, lambda: call.out.name)
        self._kernel.bind(call.var, Tensor(source.param, source.pointer, view, kind, hint_of(call.var)))
        return ""
