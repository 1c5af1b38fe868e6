"""Counting what torch calls do while a core's part of a task runs.

* views, new buffers and constant fills count nothing;
* a copy counts the bytes that it writes (a load, a store, a move between memories);
* a product of M x K and K x N counts M * N elements and 2 * M * N * K FLOPs;
* a conversion counts its elements and no FLOP;
* anything else counts the elements of its largest operand or result, and one FLOP for each.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from pypto_tmpl.runtime.records.model import Work

_COPIES = frozenset({"copy_", "clone", "cat", "stack", "repeat", "roll"})
_CONVERSIONS = frozenset({"_to_copy"})
_NO_WORK = frozenset(
    {
        *("empty", "empty_like", "empty_strided", "new_empty", "zeros", "zeros_like", "ones", "full"),
        *("full_like", "zero_", "fill_", "new_zeros", "new_full", "scalar_tensor", "arange", "lift_fresh"),
        *("detach", "_local_scalar_dense", "item", "is_same_size", "_unsafe_view", "set_"),
    }
)


class WorkCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds what the torch calls of the calling thread do to a ``Work``."""

    def __init__(self, work: Work) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._work = work

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch first imports its compiler, for seconds

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            self._count(func, args, kwargs or {}, result)
        return result

    def _count(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        name = func.overloadpacket.__name__
        if name in _NO_WORK:
            return
        results = _tensors(result)
        elements = moved = flops = 0
        if name in _COPIES:
            moved = sum(tensor.numel() * tensor.element_size() for tensor in results)
        elif func.overloadpacket in flop_registry:
            elements = sum(tensor.numel() for tensor in results)
            flops = int(flop_registry[func.overloadpacket](*args, **kwargs, out_val=result))
        else:
            sizes = [tensor.numel() for tensor in (*results, *_tensors(args))]
            elements = max(sizes, default=0)
            flops = 0 if name in _CONVERSIONS else elements
        self._add(name, elements, moved, flops)

    def _add(self, name: str, elements: int, moved: int, flops: int) -> None:
        work = self._work
        work.elements += elements
        work.bytes_moved += moved
        work.flops += flops
        row = work.ops.setdefault(name, [0, 0, 0, 0])
        for index, amount in enumerate((1, elements, moved, flops)):
            row[index] += amount


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in _tensors(part)]
    return []
