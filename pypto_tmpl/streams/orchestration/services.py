"""What macros of host code ask for while they make the text of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import TensorLayout
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.streams.orchestration.creations import CREATION, Creations
from pypto_tmpl.streams.orchestration.launches import Launches
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.spelling import TASK_ID, cpp_type
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.problems import Obstacle


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a tensor; ``kept`` are the axes that are left where some are dropped."""

    offsets: list[str]
    extents: list[str]
    kept: list[int] | None


class Services:
    """All that stands as ``c.k`` in the macros of host code."""

    def __init__(self, state: State, scalars: Scalars, creations: Creations, launches: Launches) -> None:
        self._state = state
        self._scalars = scalars
        self._creations = creations
        self._launches = launches
        self._windows: dict[str, tuple[str, list[str]]] = {}

    def binds(self, entry: OpEntry) -> bool:
        """Whether the service behind an op's macro names the result itself."""
        return entry.orchestration == CREATION

    def create(self, call: Any) -> str:
        """Request a tensor where its statement stands."""
        self._creations.request([call.stmt])
        return ""

    def extents(self, expr: ir.Expr) -> list[str]:
        """The parts of a tuple as the 32 bits that the run time takes."""
        return self._scalars.extents(self._parts(expr))

    def element_type(self, tensor: ir.Expr) -> str:
        """The C++ type of a tensor's elements."""
        return cpp_type(self._tensor(tensor).dtype)

    def window(self, call: Any) -> Window:
        """The part of a tensor that a slice shows."""
        type_ = self._tensor(call.raw.input)
        offsets, extents = self._parts(call.raw.offset), self._parts(call.raw.shape)
        dropped = [_number(axis, "a dropped axis") for axis in self._parts(call.raw.drop_dims)]
        window = Window(self._scalars.extents(offsets), self._scalars.extents(extents), None)
        if type_.dtype == DataType.FP4:
            window = _halved(window, offsets, extents)
        self._windows[call.out] = self._state.variable(call.raw.input).name, window.offsets
        if not dropped:
            return window
        rank = len(type_.shape)
        left = [axis for axis in range(rank) if axis not in {place % rank for place in dropped}]
        return Window(window.offsets, window.extents, left)

    def check_in_place(self, call: Any) -> str:
        """Nothing is to be done where the source is the window of the target that it is laid into."""
        target, source = (
            self._state.variable(call.raw.target).name,
            self._state.variable(call.raw.source).name,
        )
        if call.attr.atomic:
            raise Obstacle("the host cannot add one tensor to another", call.call.span)
        if self._windows.get(source) != (target, self.extents(call.raw.offset)):
            raise Obstacle(
                "the host copies no tensors: the source is no window of the target", call.call.span
            )
        return ""

    def axes(self, tensor: ir.Expr, axes: list[ir.Expr]) -> list[int]:
        """Axes as numbers that count from the first."""
        rank = len(self._tensor(tensor).shape)
        return [_number(axis, "an axis") % rank for axis in axes]

    def last_axes(self, tensor: ir.Expr) -> list[int]:
        """The two axes that another layout exchanges."""
        rank = len(self._tensor(tensor).shape)
        return [rank - 2, rank - 1]

    def relaid(self, call: Any) -> str:
        """What a view changes: ``shape``, the order of the last two axes (``swap``), or nothing."""
        before, after = (_layout(self._tensor(expr)) for expr in (call.raw.input, call.var))
        plain = {TensorLayout.ND, TensorLayout.DN}
        if call.raw.shape is not None:
            if before is not after or before is not TensorLayout.ND:
                raise Obstacle("a view in another shape has the layout ND before and after", call.call.span)
            return "shape"
        if before is after:
            return ""
        if {before, after} != plain:
            raise Obstacle(f"the host cannot view {before.name} as {after.name}", call.call.span)
        return "swap"

    def extent_of(self, tensor: ir.Expr, axis: ir.Expr) -> str:
        """An extent of a tensor: the number that it is, or what the run time says."""
        shape = self._tensor(tensor).shape
        place = _number(axis, "an axis") % len(shape)
        extent = shape[place]
        if isinstance(extent, ir.ConstInt):
            return str(extent.value)
        return str(self._state.templates.values.extent(self._state.variable(tensor).name, place))

    def array(self, call: Any) -> str:
        """A new array: of zeros, or of ids of no task."""
        type_ = call.var.type
        size = _number(type_.extent, "the size of an array")
        kind = cpp_type(type_.dtype)
        if kind == TASK_ID:
            invalid = self._state.templates.values.invalid()
            return str(self._state.templates.statements.ids(call.out, size, invalid))
        return str(self._state.templates.statements.zeros(kind, call.out, size))

    def barrier(self, call: Any) -> str:
        """A task that only waits for others."""
        attrs = call.call.attrs
        waits = self._launches.dependencies(
            attrs.get("manual_dep_edges", ()), attrs.get("compiler_manual_dep_edges", ())
        )
        number = self._state.barriers
        self._state.barriers += 1
        name = call.out or f"phase_fence_barrier_{number}_tid"
        type_ = "" if call.declared and call.declared == call.out else TASK_ID
        return str(self._state.templates.tasks.barrier(number, name, type_, waits))

    def context_of(self, tensor: ir.Expr) -> str:
        """The context of a tensor: contexts stand after all else, in the order of their tensors."""
        params = self._state.function.params
        tensors = [p for p in params if isinstance(p.type, ir.DistributedTensorType)]
        contexts = [p for p in params if isinstance(p.type, ir.CommCtxType)]
        name = self._state.variable(tensor).name
        for param, context in zip(tensors, contexts, strict=False):
            if self._state.variable(param).name == name:
                return self._state.variable(context).name
        raise Obstacle("the tensor has no communication context", tensor.span)

    def _tensor(self, expr: ir.Expr) -> ir.TensorType:
        if not isinstance(expr.type, ir.TensorType):
            raise Obstacle("a tensor is expected here", expr.span)
        return expr.type

    def _parts(self, expr: ir.Expr | None) -> tuple[ir.Expr, ...]:
        if expr is None:
            return ()
        if not isinstance(expr, ir.MakeTuple):
            raise Obstacle("a tuple is expected here", expr.span)
        return expr.elements


def _layout(type_: ir.TensorType) -> TensorLayout:
    return TensorLayout.ND if type_.tensor_view is None else type_.tensor_view.layout


def _number(expr: ir.Expr, what: str) -> int:
    if not isinstance(expr, ir.ConstInt):
        raise Obstacle(f"{what} must be a number", expr.span)
    return expr.value


def _halved(window: Window, offsets: tuple[ir.Expr, ...], extents: tuple[ir.Expr, ...]) -> Window:
    """A window of 4-bit elements, of which a byte holds two."""
    at, count = (
        _number(parts[-1], "the last offset and extent of a 4-bit window") for parts in (offsets, extents)
    )
    if at % 2 or count % 2:
        raise Obstacle("the last offset and extent of a 4-bit window are even", offsets[-1].span)
    return Window([*window.offsets[:-1], str(at // 2)], [*window.extents[:-1], str(count // 2)], window.kept)
