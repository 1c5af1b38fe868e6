"""Windows of tensors on other ranks, whose addresses the communication context gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.service_base import ServiceBase
from pypto_tmpl.streams.spelling import constant_of
from pypto_tmpl.streams.values import Tensor, Value
from pypto_tmpl.streams.windows import hint_of

_RANK_SLOT = 2  # of the context, a word that holds rank and number of ranks
_FIRST_WINDOW_SLOT = 4  # of the addresses, one a rank
_COUNT_SHIFT = 32


class PeerServices(ServiceBase):
    """Ranks, contexts and windows of peers."""

    def context_word(self, context: Value) -> Value:
        """The word of a context that holds the rank and the number of ranks."""
        return self._loaded(context, self._kernel.index_constant(_RANK_SLOT))

    def high_word(self, context: Value) -> Value:
        """The number of ranks, in the low half of a word."""
        shift_is_first = self._kernel.index_constant(_RANK_SLOT)
        word = self._loaded(context, shift_is_first)
        shift = self._kernel.constants.integer(_COUNT_SHIFT, DataType.INT64)
        return self._scalars.operation("arith.shrui", word, shift)

    def bind_context(self, call: Any) -> str:
        """Let a variable stand for the context of a tensor."""
        self._kernel.bind(call.var, self._context_of(call.a.dist_tensor))
        return ""

    def _loaded(self, context: Value, slot: Value) -> Value:
        result = self._kernel.temp(DataType.INT64)
        self._kernel.line(self._kernel.templates.values.load_scalar(result, context, slot))
        return result

    def _context_of(self, tensor: Tensor) -> Value:
        """The context of a parameter: contexts stand after all else, in the order of their tensors."""
        params = self._kernel.function.params
        tensors = [p for p in params if isinstance(p.type, ir.DistributedTensorType)]
        contexts = [p for p in params if isinstance(p.type, ir.CommCtxType)]
        for param, context in zip(tensors, contexts, strict=False):
            if param is tensor.param:
                found = self._kernel.meaning(context)
                assert isinstance(found, Value)
                return found
        raise Obstacle(f"the tensor {tensor.param.name_hint!r} has no communication context")

    def _peer_view(self, tensor: Tensor, peer: ir.Expr) -> Value:
        """The view of a tensor's window on another rank."""
        kernel, scalars = self._kernel, self._scalars
        context = self._context_of(tensor)
        rank_of_peer = scalars.converted(scalars.value(peer), DataType.INDEX)
        slot = kernel.index_constant(_RANK_SLOT)
        first = kernel.index_constant(_FIRST_WINDOW_SLOT)
        word = self._loaded(context, slot)
        rank = scalars.converted(scalars.converted(word, DataType.INT32), DataType.INDEX)
        own = self._loaded(context, scalars.operation("arith.addi", first, rank))
        other = self._loaded(context, scalars.operation("arith.addi", first, rank_of_peer))
        distance = scalars.operation("arith.subi", other, own)
        bits = tensor.type.dtype.get_bit()
        if bits % 8:
            raise Obstacle(f"a window of {tensor.type.dtype.name} has no byte address on another rank")
        size = kernel.constants.integer(bits // 8, DataType.INT64)
        elements = scalars.converted(scalars.operation("arith.divsi", distance, size), DataType.INDEX)
        pointer = Value(kernel.names.temp(), tensor.pointer.type)
        kernel.line(kernel.templates.tiles.add_pointer(pointer, tensor.pointer, elements))
        return self._tensors.make_view(pointer, tensor.type, kernel.names.temp)

    def peer_window(
        self, tensor: Tensor, var: ir.Expr, peer: ir.Expr, offsets: ir.Expr, sizes: ir.Expr
    ) -> Value:
        """The window of a load from another rank."""
        extents = self.parts(sizes)
        return self._on_peer(tensor, var, peer, self.parts(offsets), extents)

    def peer_store_window(
        self, tensor: Tensor, var: ir.Expr, peer: ir.Expr, offsets: ir.Expr, tile: ir.Expr
    ) -> Value:
        """The window of a store to another rank: of the tile's valid extents."""
        valid = self.tile_of(tile).get_effective_tile_view().valid_shape
        return self._on_peer(tensor, var, peer, self.parts(offsets), valid)

    def _on_peer(
        self,
        tensor: Tensor,
        var: ir.Expr,
        peer: ir.Expr,
        offsets: Sequence[ir.Expr],
        sizes: Sequence[ir.Expr],
    ) -> Value:
        view = self._peer_view(tensor, peer)
        extents = [self._scalars.index(size) for size in sizes]
        at = [self._scalars.offset(offset) for offset in offsets]
        numbers = [constant_of(size) for size in sizes]
        hint = f"{hint_of(var)}_peer_pview"
        return self._tensors.cut(view, tensor.type.dtype, hint, at, extents, numbers)

    def signal_window(self, tensor: Tensor, var: ir.Expr, offsets: ir.Expr, peer: ir.Expr | None) -> Value:
        """The one element of a signal, on another rank or here."""
        at = self.parts(offsets)
        one = ir.ConstInt(1, DataType.INDEX, var.span)
        if peer is not None:
            return self._on_peer(tensor, var, peer, at, [one] * len(at))
        return self._tensors.window(tensor, f"{hint_of(var)}_local_pview", at, [one] * len(at))

    def exchange_windows(self, call: Any, peer_side: str) -> list[Value]:
        """The windows of both sides of a transfer, the destination first: of what the call says, else whole.

        All offsets and extents are worked out before the first window.
        """
        shape = call.raw.shape
        sides: list[tuple[str, Tensor, list[Value]]] = []
        for side in ("dst", "src"):
            tensor: Tensor = call.a[side]
            offsets = call.raw[f"{side}_offsets"]
            zero = ir.ConstInt(0, DataType.INDEX, call.call.span)
            parts = [zero] * len(tensor.type.shape) if offsets is None else self.parts(offsets)
            sides.append((side, tensor, [self._scalars.offset(offset) for offset in parts]))
        windows: list[Value] = []
        for side, tensor, at in sides:
            sizes = tensor.type.shape if shape is None else self.parts(shape)
            extents = [self._scalars.index(size) for size in sizes]
            on_peer = side == peer_side
            view = self._peer_view(tensor, call.raw.peer) if on_peer else tensor.view
            hint = f"{hint_of(call.raw[side])}_{'peer' if on_peer else 'local'}_pview"
            numbers = [constant_of(size) for size in sizes]
            windows.append(self._tensors.cut(view, tensor.type.dtype, hint, at, extents, numbers))
        return windows
