"""Tensors in global memory: their views, and the windows that loads and stores cut from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import TensorLayout
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.scalars import Scalars
from pypto_tmpl.streams.spelling import constant_of, mlir_dtype
from pypto_tmpl.streams.values import Tensor, TensorShape, Value

_LAYOUTS = {
    TensorLayout.ND: "nd", TensorLayout.DN: "dn", TensorLayout.NZ: "nz",
    TensorLayout.MX_A_ZZ: "mx_a_zz", TensorLayout.MX_B_NN: "mx_b_nn",
}  # fmt: skip
_SCALES = (TensorLayout.MX_A_ZZ, TensorLayout.MX_B_NN)
GM_PIPE_BUFFER = "__gm_pipe_buffer"


class Tensors:
    """The tensors of one kernel."""

    def __init__(self, kernel: Kernel, scalars: Scalars) -> None:
        self._kernel = kernel
        self._scalars = scalars
        self._macros = kernel.templates.tiles
        self._params: list[Tensor] = []

    def add_parameter(self, param: ir.Var, pointer: Value) -> None:
        """Reserve the view of a parameter and the constants of its static extents and strides."""
        kernel = self._kernel
        assert isinstance(param.type, ir.TensorType)
        name = f"{param.name_hint}_view"
        name = "" if param.name_hint == GM_PIPE_BUFFER else kernel.names.named(name)
        tensor = Tensor(param, pointer, Value(name, self._view_type(param.type)), param.type, param.name_hint)
        kernel.bind(param, tensor)
        if name:
            self._params.append(tensor)
            self._issue_constants(param.type)

    def _issue_constants(self, tensor: ir.TensorType) -> None:
        kernel = self._kernel
        extents = [constant_of(dim) for dim in tensor.shape]
        view = tensor.tensor_view
        strides = [] if view is None or not view.stride else [constant_of(dim) for dim in view.stride]
        if not strides and len(extents) == 2:
            strides = [extents[1], 1]
        for extent in [*extents, *(strides or [1])]:
            if extent is not None:
                kernel.index_constant(extent)

    def _view_type(self, tensor: ir.TensorType) -> str:
        element = mlir_dtype(tensor.dtype)
        text: str = self._kernel.templates.values.view_type(len(tensor.shape), element)
        return text

    def use(self, var: ir.Expr) -> Tensor:
        """The tensor that a variable is."""
        found = self._kernel.meaning(var)
        if not isinstance(found, Tensor):
            raise Obstacle("a tensor is expected here", var.span)
        return found

    def prologue(self) -> list[str]:
        """The lines of the views of all parameters that the body names, be it only to return them."""
        used = named_in(self._kernel.function.body)
        lines: list[str] = []
        for tensor in self._params:
            if tensor.param in used:
                found: list[str] = []
                shape = self.shape_of(tensor.type, self._stride_names(tensor), found.append)
                found.append(self._view_line(tensor.view, tensor.pointer, shape))
                for text in found:
                    lines += self._kernel.writer.located(text, tensor.param.span)
        return lines

    def _stride_names(self, tensor: Tensor) -> Callable[[int], str]:
        return lambda axis: self._kernel.names.named(f"{tensor.param.name_hint}_s{axis}")

    def _view_line(self, view: Value, pointer: Value, shape: TensorShape) -> str:
        text: str = self._macros.tensor_view(view, pointer, shape.shape, shape.strides, shape.layout)
        return text

    def make_view(self, pointer: Value, tensor: ir.TensorType, name: Callable[[], str]) -> Value:
        """A view made where the body needs it, named after its parts are there."""
        kernel = self._kernel
        shape = self.shape_of(tensor, lambda _: kernel.names.temp(), kernel.line)
        view = Value(name(), self._view_type(tensor))
        kernel.line(self._view_line(view, pointer, shape))
        return view

    def transposed_view(self, tensor: Tensor, hint: str) -> Value:
        """A view of a matrix with its axes swapped, made where the body needs it. Raises Obstacle."""
        kernel = self._kernel
        if len(tensor.type.shape) != 2:
            raise Obstacle(f"{tensor.hint!r} is no matrix, which alone is read transposed")
        shape = self.shape_of(tensor.type, lambda _: kernel.names.temp(), kernel.line)
        swapped = TensorShape(shape.shape[::-1], shape.strides[::-1], _LAYOUTS[TensorLayout.DN])
        view = Value(kernel.names.named(hint), self._view_type(tensor.type))
        kernel.line(self._view_line(view, tensor.pointer, swapped))
        return view

    def shape_of(
        self, tensor: ir.TensorType, stride_name: Callable[[int], str], line: Callable[[str], None]
    ) -> TensorShape:
        """Extents, strides and layout of a view; products of symbolic extents become lines."""
        view = tensor.tensor_view
        layout = TensorLayout.ND if view is None else view.layout
        extents = [self._scalars.index(dim) for dim in tensor.shape]
        is_column = len(extents) >= 2 and constant_of(tensor.shape[-1]) == 1 and layout not in _SCALES
        if is_column:
            layout = TensorLayout.DN
        if view is not None and view.stride:
            strides = [self._scalars.index(stride) for stride in view.stride]
        else:
            strides = self._derived(extents, layout, is_column, stride_name, line)
        return TensorShape(extents, strides, _LAYOUTS[layout])

    def _derived(
        self,
        extents: Sequence[Value],
        layout: TensorLayout,
        is_column: bool,
        stride_name: Callable[[int], str],
        line: Callable[[str], None],
    ) -> list[Value]:
        one = self._kernel.index_constant(1)
        if len(extents) < 2:
            return [one] * len(extents)
        if layout is TensorLayout.DN:
            last = [one, extents[-2]]
            if is_column and len(extents) > 2:
                return self._outer([extents[-2], one, extents[-1]], extents, stride_name, line)
        else:
            last = [extents[-1], one]
        return self._outer(last, extents, stride_name, line)

    def _outer(
        self,
        strides: list[Value],
        extents: Sequence[Value],
        stride_name: Callable[[int], str],
        line: Callable[[str], None],
    ) -> list[Value]:
        """The strides of the axes before those given: each the next one times the next extent."""
        for axis in range(len(extents) - len(strides) - 1, -1, -1):
            product = Value(stride_name(axis), "index", DataType.INDEX)
            line(self._kernel.templates.values.binary(product, "arith.muli", strides[0], extents[axis + 1]))
            strides = [product, *strides]
        return strides

    def window(
        self, tensor: Tensor, hint: str, offsets: Sequence[ir.Expr], sizes: Sequence[ir.Expr]
    ) -> Value:
        """A window whose name is ``hint`` if that is free; offsets are not negative."""
        return self.cut_from(tensor.view, tensor.type.dtype, hint, offsets, sizes)

    def cut_from(
        self, view: Value, dtype: DataType, hint: str, offsets: Sequence[ir.Expr], sizes: Sequence[ir.Expr]
    ) -> Value:
        """A window of a view at offsets that are worked out here, before the extents."""
        at = [self._scalars.offset(offset) for offset in offsets]
        extents = [self._scalars.index(size) for size in sizes]
        return self.cut(view, dtype, hint, at, extents, [constant_of(size) for size in sizes])

    def cut(
        self,
        view: Value,
        dtype: DataType,
        hint: str,
        offsets: Sequence[Value],
        sizes: Sequence[Value],
        extents: Sequence[int | None],
    ) -> Value:
        """The line of a window of a view; without a hint it is numbered."""
        kernel = self._kernel
        shown = ["?" if extent is None else str(extent) for extent in extents]
        kind = kernel.templates.values.partition_type(shown, mlir_dtype(dtype))
        result = Value(kernel.names.named(hint) if hint else kernel.names.temp(), kind)
        kernel.line(self._macros.partition_view(result, view, offsets, sizes))
        return result


def named_in(body: ir.Stmt) -> set[ir.Var]:
    """The variables that occur in a body."""
    return {node for node in walk(body) if isinstance(node, ir.Var)}


def scale_layout(tensor: ir.Type) -> str:
    """The layout of a tensor of block scales; empty for any other tensor."""
    view = tensor.tensor_view if isinstance(tensor, ir.TensorType) else None
    return _LAYOUTS[view.layout] if view is not None and view.layout in _SCALES else ""
