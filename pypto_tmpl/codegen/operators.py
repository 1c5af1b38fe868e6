"""Calls of operators as they stand in one function: on one lane, once, recorded."""

from __future__ import annotations

from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.codegen.calls import OperatorCalls
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.lane_memory import LaneMemory
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.trace_emitter import Tracing
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.ops import OpEntry

_CUBE_SPACES = frozenset(
    {
        ir.MemorySpace.Mat,
        ir.MemorySpace.Left,
        ir.MemorySpace.Right,
        ir.MemorySpace.Acc,
        ir.MemorySpace.LeftScale,
        ir.MemorySpace.RightScale,
    }
)


def _frees(entry: OpEntry) -> bool:
    return entry.pipe is not None and entry.pipe.end == "free"


class Operators:
    """Texts of operator calls; a store may be one lane's, or land on one lane only."""

    def __init__(
        self,
        context: Context,
        values: Values,
        expressions: Expressions,
        calls: OperatorCalls,
        tracing: Tracing,
    ) -> None:
        self._context, self._macros = context, context.macros
        self._values, self._expressions = values, expressions
        self._calls, self._tracing = calls, tracing
        function, kernels = context.function, context.script.kernels
        self.is_muted = function.name in kernels.muted_on_lane1
        # Says which stores are one lane's; None where there is one lane.
        self.store_once: Callable[[ir.Call], bool] | None = (
            self.cube_side_store if kernels.runs_on_two_lanes(function) else None
        )

    @lazy
    def _frees(self) -> frozenset[str]:
        """The ops of the function that free a tile of a pipe."""
        return self._context.facts.op_names & self._context.table.matching(_frees)

    def text(self, node: ir.Call) -> str:
        """Text of a call of an operator."""
        text = self._calls.emit(self._released(node) if self._frees else node)
        if self.store_once is None and not self.is_muted:
            return self._tracing.value(node, text)
        if self.store_once is not None and not self.is_muted and self._is_shared_load(node):
            return self._tracing.value(node, str(self._macros.load_once(text)))
        if not self.is_muted and (self.store_once is None or not self.store_once(node)):
            return self._tracing.value(node, text)
        target = self._values.global_target(node)
        if target is None:
            return self._tracing.value(node, text)
        if self.is_muted:
            return str(self._macros.if_writes_land(text, self._expressions.again(target)))
        return str(self._macros.store_once(text))

    def _released(self, node: ir.Call) -> ir.Call:
        """A tfree with the pipe of the tile that it frees, which StampTfreeSplit will write into it."""
        is_free = node.op.name in self._frees and node.args
        pipe = self._values.popped_from.get(id(node.args[0])) if is_free else None
        if pipe is None or "id" in node.kwargs:
            return node
        kwargs = {**dict(node.kwargs.items()), "id": pipe}
        return ir.Call(node.op, node.args, kwargs, node.type, node.span)

    def _is_shared_load(self, call: ir.Call) -> bool:
        """True for a load to the cube side of what lanes store: all of them before it, none behind it."""
        is_cube_tile = isinstance(call.type, ir.TileType) and call.type.memory_space in _CUBE_SPACES
        tensors = [arg for arg in call.args if isinstance(arg.type, ir.TensorType)] if is_cube_tile else []
        return any(map(self._lane_memory.is_stored_into, tensors))

    @lazy
    def _lane_memory(self) -> LaneMemory:
        return LaneMemory(self._context.function, self._context.table)

    def cube_side_store(self, call: ir.Call) -> bool:
        """True for a write to global memory from the cube side."""
        type_ = call.args[0].type if call.args else None
        return isinstance(type_, ir.TileType) and type_.memory_space in _CUBE_SPACES

    def any_store(self, call: ir.Call) -> bool:
        return True
