"""The pipes between the cores of a group."""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.enums import MemorySpace
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.service_base import ServiceBase
from pypto_tmpl.streams.spelling import constant_of
from pypto_tmpl.streams.tensors import GM_PIPE_BUFFER
from pypto_tmpl.streams.units import pipe_sizes
from pypto_tmpl.streams.values import Tensor, Value

_PLAIN = re.compile(r"[A-Za-z0-9_]*")
_EVENTS = 14
_ODD_SPLITS = (3, 4)
_ELEMENT_BYTES = 4  # the buffer in global memory holds FP32


class PipeServices(ServiceBase):
    """Buffers, slots and the regions of tiles that go through a pipe."""

    def plain(self, name: str) -> str:
        """A name that may stand in the text. Raises Obstacle for other characters."""
        found = _PLAIN.match(name)
        if found is None or found.end() != len(name):
            bad = name[0 if found is None else found.end()]
            raise Obstacle(
                f"name contains invalid character '{bad}'; only alphanumeric and underscore are allowed"
            )
        return name

    def core_memory(self) -> str:
        """The memory in which this core receives tiles."""
        kinds = {ir.FunctionType.AIC: "mat", ir.FunctionType.AIV: "vec"}
        return kinds.get(self._kernel.function.func_type, "undefined")

    def event(self, number: int) -> int:
        """The number of an event. Raises Obstacle for one that the cores do not have."""
        if not 0 <= number < _EVENTS:
            raise Obstacle(f"an event is one of 0 to {_EVENTS - 1}, got {number}")
        return number

    def workspace(self, tensor: Tensor, dtype: str, least: int) -> Tensor:
        """A workspace of a synchronisation, of known size and not too small."""
        extents = [constant_of(extent) for extent in tensor.type.shape]
        count = prod(extent or 0 for extent in extents)
        if tensor.type.dtype.name != dtype or count < least:
            raise Obstacle(f"the workspace {tensor.param.name_hint!r} must hold at least {least} {dtype}")
        return tensor

    def buffer(self, expr: ir.Expr) -> Value:
        """A buffer of a pipe's end as an i32."""
        return self.integer_scalar(expr)

    def slot_buffer(self, attr: Any) -> Value | None:
        """The part of the buffer in global memory that a pipe's slots lie in; None without such a buffer."""
        kernel = self._kernel
        params = [param for param in kernel.function.params if param.name_hint == GM_PIPE_BUFFER]
        if not params:
            return None
        tensor = kernel.meaning(params[0])
        assert isinstance(tensor, Tensor)
        offset = self._slots_before(attr)
        if offset == 0:
            return tensor.pointer
        short = Value(tensor.pointer.name, "<f32>")
        at = kernel.index_constant(offset // _ELEMENT_BYTES)
        result = Value(kernel.names.temp(), "<f32>")
        kernel.line(kernel.templates.tiles.add_pointer(result, short, at))
        return Value(result.name, tensor.pointer.type)

    def _slots_before(self, attr: Any) -> int:
        """Bytes of the pipes that lie before one in the buffer, by id and direction."""
        own = (attr.id or 0, attr.dir_mask)
        sizes = pipe_sizes(self._kernel.function)
        return sum(size for key, size in sizes.items() if key < own)

    def narrowed_push(self, call: Any) -> tuple[str, str] | None:
        """What stands around the push of a tile whose valid region is narrower than its box.

        A receiver that takes half of the box, or whole boxes out of an accumulator, needs the box.
        """
        tile: Value = call.a.tile
        kind = self.tile_of(call.raw.tile)
        valid = kind.get_effective_tile_view().valid_shape[:2]
        narrow = [constant_of(v) != constant_of(s) for v, s in zip(valid, kind.shape[:2], strict=True)]
        if not any(narrow) or len(valid) != 2:
            return None
        from_acc = kind.memory_space is MemorySpace.Acc and call.op == "pto.tpush_to_aiv"
        is_split = bool(call.attr.split)
        is_dual = bool(self._kernel.function.attrs.get("dual_aiv_dispatch"))
        is_idle = 0 in map(constant_of, valid)
        if not (is_split or from_acc or (is_dual and narrow[1] and not is_idle)):
            return None
        own = self._tiles.extents(valid)
        box = self._tiles.extents(kind.shape)
        if not is_split and not from_acc:
            box = own[0], box[1]
        setter = self._kernel.templates.tiles.set_validshape
        return setter(tile, *box), setter(tile, *own)

    def split(self, call: Any) -> int:
        """The split of a hand-over. Raises Obstacle for one that the cube core does not take part in."""
        mode = int(call.attr.split or 0)
        if mode in _ODD_SPLITS and call.op in ("pto.tpush_to_aic", "pto.tpop_from_aiv"):
            raise Obstacle(f"{call.op} cannot have the split {mode}: odd halves go from cube to vector only")
        return mode

    def pop(self, call: Any) -> str:
        """Take a tile out of a pipe and bind the variable to it.

        A tile whose region is known and narrower than its box comes as the box and is seen through a view.
        """
        var, kind = call.var, self.tile_of(call.var)
        valid = kind.get_effective_tile_view().valid_shape[:2]
        numbers = [constant_of(extent) for extent in valid]
        narrow = numbers != [constant_of(extent) for extent in kind.shape[:2]]
        in_lane = kind.memory_space is MemorySpace.Vec and call.op == "pto.tpop_from_aic"
        if narrow and in_lane and None not in numbers and 0 not in numbers:
            box = self._tiles.value_of(var, self.named("tpop_transport"))
            self._kernel.line(self._forms.popped(call.op, box, [], self.handover(call)))
            view = replace(box, name=self.named("tpop_logical"), is_view=True)
            view = replace(view, type=self._tiles.static_type(kind, numbers))
            self._kernel.line(self._kernel.templates.tiles.reshaped(view, box))
            self._kernel.bind(var, view)
            return ""
        extents = list(self._tiles.extents(valid)) if narrow else []
        value = self._tiles.value_of(var, self._tiles.name_of(var))
        self._kernel.bind(var, value)
        self._kernel.line(self._forms.popped(call.op, value, extents, self.handover(call)))
        return ""

    def handover(self, call: Any) -> str:
        """The attributes of a push, a pop or a free."""
        text: str = self._forms.handover(call.attr.id, self.split(call))
        return text
