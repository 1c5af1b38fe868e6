"""One call of a tensor op while it becomes tile ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.tensor_to_tile.plans import Plan, Slot, operand_index, operand_names
from pypto_tmpl.rewrite import as_body, build

Step = Callable[[ir.Expr, ir.Expr], ir.Expr]
BRIDGE = "__compiler_tensor_to_tile_mat_bridge"
"""The attribute of the loads into Mat that are made here; a later pass may change their layout."""
_LARGEST = MappingProxyType({ir.DataType.FP16: 15, ir.DataType.BF16: 127})
"""The exponents of the largest numbers of the 16-bit floats."""
_WIDE_ROW = 128  # the least last extent of the workspace of a reduction


@dataclass(frozen=True, slots=True)
class LoopNames:
    """What the variables of a loop are called."""

    loop_var: str
    carry: str
    result: str


@dataclass(slots=True)
class Lowering:
    """A call, its operands rewritten already, and the statements that go before what it becomes."""

    function: ir.Function
    before: ir.Call
    call: ir.Call
    loaded: Mapping[int, ir.Var]
    into_mat: bool  # whether the result is only multiplied with
    flat_gather: bool  # whether tile.gather takes positions in all of a tile
    result: str  # the name of what it becomes, "" where nothing takes it
    made: list[ir.Stmt] = field(default_factory=list)

    def let(self, name: str, value: ir.Expr) -> ir.Var:
        """A new variable for a value."""
        var = ir.Var(name, value.type, self.before.span)
        self.made.append(ir.AssignStmt(var, value, self.before.span))
        return var

    def emit(self, op: str, *operands: Any, **keywords: Any) -> ir.Call:
        """The call of a tile op; a PassError where the op does not take it."""
        try:
            return ops.call(op, *operands, span=self.before.span, **keywords)
        except ops.OpCallError as error:
            raise self.error(str(error)) from None

    def error(self, what: str) -> PassError:
        """An error about this call."""
        return PassError(f"{self.before.op.name}: {what}", self.function, self.before)

    def loop(
        self,
        names: LoopNames,
        stop: int | ir.Expr,
        init: ir.Expr,
        step: Callable[[ir.Expr, ir.Expr], ir.Expr],
    ) -> ir.Var:
        """A loop from 0 that carries a value; ``step`` gives the next one from the index and the last one."""
        span, index = self.before.span, ir.ScalarType(ir.DataType.INDEX)
        loop_var = ir.Var(names.loop_var, index, span)
        carry = ir.IterArg(names.carry, init.type, init, span)
        outer, self.made = self.made, []
        value = step(loop_var, carry)
        body = as_body([*self.made, ir.YieldStmt([value], span)], span)
        self.made = outer
        result = ir.Var(names.result, init.type, span)
        start, one = self.index(0), self.index(1)
        end = stop if isinstance(stop, ir.Expr) else self.index(stop)
        self.made.append(ir.ForStmt(loop_var, start, end, one, [carry], body, [result], span))
        return result

    def index(self, value: int) -> ir.ConstInt:
        """An INDEX constant."""
        return ir.ConstInt(value, ir.DataType.INDEX, self.before.span)

    def operand(self, name: str) -> ir.Expr:
        """An operand by its name in the op table."""
        return self.call.args[operand_index(self.call, name)]

    def has(self, name: str) -> bool:
        """Whether an operand is given that may be absent, and is no empty list."""
        place = operand_index(self.call, name)
        given = self.call.args[place] if place < len(self.call.args) else None
        return given is not None and not (isinstance(given, ir.MakeTuple) and not given.elements)

    def tile(self, name: str) -> ir.Expr:
        """An operand as a tile that was loaded, or made, already."""
        return self.as_tile(self.operand(name), name)

    def as_tile(self, value: ir.Expr, name: str) -> ir.Expr:
        """A value as the tile that an operand takes; a tensor in memory is loaded right here."""
        value = self.loaded.get(id(value), value)
        if not isinstance(value.type, ir.TensorType):
            return value
        return self.let(f"bridged_{operand_index(self.call, name)}", self.load(value, MemorySpace.Vec))

    def bridged(self, name: str, space: MemorySpace, hint: str = "") -> ir.Expr:
        """An operand as a tile, loaded right here if it is a tensor in memory."""
        value = self.operand(name)
        if not isinstance(value.type, ir.TensorType):
            return value
        base = value.name_hint if isinstance(value, ir.Var) else name
        return self.let(hint or f"{base}_{space.name.lower()}", self.load(value, space))

    def load(self, tensor: ir.Expr, space: MemorySpace) -> ir.Call:
        """A load of all of a tensor."""
        return load_of(tensor, space, self.before.span)

    def window(
        self, tensor: ir.Expr, offsets: Any, shape: Any, valid: Any, space: MemorySpace, **keywords: Any
    ) -> ir.Call:
        """A load of a window of a tensor."""
        call = self.emit("tile.load", tensor, offsets, shape, valid, target_memory=space, **keywords)
        return _marked(call, space)

    def workspace(self, name: str, shape: Any, dtype: ir.DataType) -> ir.Var:
        """A new tile without a value."""
        return self.let(name, self.emit("tile.create", shape, dtype=dtype, target_memory=MemorySpace.Vec))

    def one_op(self, plan: Plan) -> ir.Expr:
        """The call of the one tile op of a plan, or a tile that has the dtype already to which it is cast."""
        assert plan.spec.to is not None
        taken = {slot.source for slot in plan.slots if isinstance(slot.source, int)}
        for place, name in enumerate(operand_names(self.before)):
            if place not in taken and self.has(name):
                raise self.error(f"{plan.spec.to} does not take its operand {name!r}")
        operands = [self._slot(slot) for slot in plan.slots]
        if is_cast(self.before) and element_type(operands[0]) == element_type(self.before):
            return operands[0]
        operands = self._widened(operands)
        call = self.emit(plan.spec.to, *operands, **plan.keywords(self.before))
        if not _is_of_shape(call.type, self.before.type):
            raise self.error(f"{plan.spec.to} gives another shape than the op on tensors")
        return call

    def _widened(self, operands: list[ir.Expr]) -> list[ir.Expr]:
        """Tiles as wide as the result is on tensors, where their dtype would round what a number gives."""
        dtype = self.before.type.dtype if isinstance(self.before.type, ir.TensorType) else None
        numbers = [value for value in operands if value.type == ir.ScalarType(ir.DataType.FP32)]
        found = list(operands)
        for place, value in enumerate(operands):
            if dtype != ir.DataType.FP32 or not isinstance(value.type, ir.TileType):
                continue
            if any(not _is_kept_narrow(value.type.dtype, number) for number in numbers):
                name = f"{operand_names(self.before)[place]}_wide"
                found[place] = self.let(name, self.emit("tile.cast", value, target_type=dtype, mode=2))
        return found

    def _slot(self, slot: Slot) -> ir.Expr:
        if isinstance(slot.source, int):
            value = self.call.args[slot.source]
            is_tensor = isinstance(value.type, ir.TensorType)
            name = operand_names(self.before)[slot.source]
            return self.as_tile(value, name) if slot.takes_tile and is_tensor else value
        first = self.call.args[0]
        first = self.loaded.get(id(first), first)
        assert isinstance(first.type, ir.ShapedType)
        shape = list(first.type.shape)
        if slot.source.shape == "wide_rows":
            width = constant_extent(shape[-1])
            if width is None or width < _WIDE_ROW:
                shape[-1] = ir.ConstInt(_WIDE_ROW, ir.DataType.INDEX, self.before.span)
        return self.workspace(slot.source.name, ir.MakeTuple(shape, self.before.span), first.type.dtype)


def _is_kept_narrow(dtype: ir.DataType, number: ir.Expr) -> bool:
    """Whether arithmetic with a number stays in a 16-bit float: with 0 and powers of two, as recorded."""
    if dtype not in _LARGEST:
        return True
    if not isinstance(number, ir.ConstFloat):
        return False
    fraction, exponent = math.frexp(abs(number.value))
    return number.value == 0 or (fraction == 1 / 2 and abs(exponent - 1) < _LARGEST[dtype])


def is_cast(call: ir.Call) -> bool:
    """Whether an op converts to another dtype; a tile may have that where the tensor had not."""
    return facts.of(call.op).has("casts")


def _is_of_shape(tile: ir.Type, tensor: ir.Type) -> bool:
    if not isinstance(tensor, ir.TensorType) or not isinstance(tile, ir.TileType):
        return True
    return same_extents(tile.shape, tensor.shape)


def load_of(tensor: ir.Expr, space: MemorySpace, span: ir.Span) -> ir.Call:
    """A load of all of a tensor."""
    assert isinstance(tensor.type, ir.TensorType)
    shape = ir.MakeTuple(tensor.type.shape, span)
    offsets = [0] * len(tensor.type.shape)
    call = ops.call("tile.load", tensor, offsets, shape, shape, target_memory=space, span=span)
    return _marked(call, space)


def fixed_extents(lowering: Lowering, name: str) -> tuple[int, ...]:
    """The extents of an operand, which have to be constants: tiles have fixed sizes."""
    type_ = lowering.operand(name).type
    assert isinstance(type_, ir.ShapedType)
    extents = [constant_extent(extent) for extent in type_.shape]
    fixed = tuple(extent for extent in extents if extent is not None)
    if len(fixed) < len(extents):
        raise lowering.error(f"tiles have fixed sizes, and its operand {name!r} has none")
    return fixed


def element_type(value: ir.Expr) -> ir.DataType:
    """The dtype of the elements of a tensor or tile."""
    assert isinstance(value.type, ir.ShapedType)
    return value.type.dtype


def int32(lowering: Lowering, value: int) -> ir.ConstInt:
    """An INT32 constant."""
    return ir.ConstInt(value, ir.DataType.INT32, lowering.before.span)


def _marked(call: ir.Call, space: MemorySpace) -> ir.Call:
    return build(call, attrs=ir.AttrMap({BRIDGE: True})) if space is MemorySpace.Mat else call
