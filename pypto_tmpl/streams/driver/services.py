"""What macros of ops may ask of the driver: windows, contexts, places in tensors, tasks of collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.streams.driver.scalars import Scalars
from pypto_tmpl.streams.driver.state import State
from pypto_tmpl.streams.driver.tasks import Tasks
from pypto_tmpl.streams.driver.values import Context, Created, Window
from pypto_tmpl.streams.problems import Obstacle


class Services:
    """The ``c.k`` of macros."""

    def __init__(self, state: State, scalars: Scalars, tasks: Tasks) -> None:
        self._state = state
        self._scalars = scalars
        self._tasks = tasks

    def text(self, expr: ir.Expr) -> str:
        """A scalar expression."""
        return self._scalars.text(expr)

    def key(self, tensor: ir.Expr) -> str:
        """Where a tensor of the host is found."""
        return self._state.tensor(tensor).key

    def buffer(self, call: Any) -> str:
        """Check that a buffer is one of an open domain, which allocates it."""
        if isinstance(call.var, ir.Var):
            self._state.buffer(call.var)
        return ""

    def window(self, call: Any) -> str:
        """Let the result be a view of a buffer; it has text wherever a task takes it."""
        buffer = self._state.buffer(call.raw.buf)
        if call.var is not None:
            assert isinstance(call.var.type, ir.TensorType)
            self._state.bind(call.var, Window(buffer, call.var.type))
        return ""

    def context(self, call: Any) -> str:
        """Let the result be the context of a window's domain."""
        if call.var is not None:
            self._state.bind(call.var, Context(self._state.window(call.raw.dist_tensor).buffer.domain))
        return ""

    def places(self, call: Any) -> list[str]:
        """The places of a window as torch takes them: axes that are dropped by number, others as ranges."""
        _check_whole_elements(call.raw.input)
        gone = {_number(axis) for axis in _parts(call.raw.drop_dims)}
        pairs = zip(_parts(call.raw.offset), _parts(call.raw.shape), strict=True)
        return [
            self.text(start) if axis in gone else self._range(start, extent)
            for axis, (start, extent) in enumerate(pairs)
        ]

    def written(self, call: Any) -> list[str]:
        """The places of the target that a source goes to; leading axes that the source lacks are numbers."""
        target, source = call.raw.target, call.raw.source
        if call.attr.atomic:
            raise Obstacle("the host adds nothing: only kernels assemble atomically", call.call.span)
        if target.type.dtype != source.type.dtype:
            raise Obstacle("the host converts nothing: source and target have one dtype", call.call.span)
        _check_whole_elements(target)
        places, extents = _parts(call.raw.offset), source.type.shape
        lead = len(places) - len(extents)
        if lead < 0:
            raise Obstacle("the source has more axes than there are offsets", call.call.span)
        found = [self.text(start) for start in places[:lead]]
        return found + [self._range(*pair) for pair in zip(places[lead:], extents, strict=True)]

    def create(self, call: Any) -> str:
        """A tensor that there is before anything runs; it is made once, outside of all loops."""
        if not self._state.is_outermost:
            raise Obstacle("tensors of the host are made outside of loops and branches", call.call.span)
        if call.var is None:
            return ""
        assert isinstance(call.var.type, ir.TensorType)
        extents = [_constant(extent) for extent in call.var.type.shape]
        dtype = call.var.type.dtype.name
        if dtype not in TORCH_NAMES:
            raise Obstacle(f"torch has no dtype for {dtype}", call.call.span)
        initial = call.attr.init_value or 0
        self._state.created.append(Created(self._state.keyed(call.var).key, extents, dtype, initial))
        return ""

    def collective(self, call: Any, variant: str, scalars: Sequence[object]) -> str:
        """The task of a collective on the chip that the call names."""
        texts = [self._state.macros.number(value) for value in scalars]
        return self._tasks.collective(call.call, f"{call.op}{variant}", texts)

    def _range(self, start: ir.Expr, extent: ir.Expr) -> str:
        """A range of places; its end is a number where both are."""
        if isinstance(start, ir.ConstInt) and start.value < 0:
            raise Obstacle("torch counts negative places from the end", start.span)
        if isinstance(start, ir.ConstInt) and isinstance(extent, ir.ConstInt):
            end = self._state.macros.number(start.value + extent.value)
        else:
            end = self._state.macros.binary("+", self.text(start), self.text(extent))
        return str(self._state.macros.range_of(self.text(start), end))


def _check_whole_elements(tensor: ir.Expr) -> None:
    """Raise Obstacle for a tensor of which torch holds two elements in one."""
    assert isinstance(tensor.type, ir.TensorType)
    if tensor.type.dtype in (ir.DataType.FP4, ir.DataType.INT4, ir.DataType.UINT4):
        raise Obstacle("the host takes no windows of 4-bit elements", tensor.span)


def _parts(expr: ir.Expr | None) -> tuple[ir.Expr, ...]:
    if expr is None:
        return ()
    if not isinstance(expr, ir.MakeTuple):
        raise Obstacle("a tuple is expected here", expr.span)
    return expr.elements


def _number(expr: ir.Expr) -> int:
    if not isinstance(expr, ir.ConstInt):
        raise Obstacle("the number of an axis is expected here", expr.span)
    return expr.value


def _constant(extent: ir.Expr) -> str:
    if not isinstance(extent, ir.ConstInt):
        raise Obstacle("a tensor of the host has extents that are known before it runs", extent.span)
    return str(extent.value)
