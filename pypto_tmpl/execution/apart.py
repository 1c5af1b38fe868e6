"""Calling an entry in place, as a device does, where no two arguments share memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from pypto_tmpl.execution.entry import Parameter
from pypto_tmpl.execution.extents import Value

CPU = torch.device("cpu")


def call_apart(
    entry: Callable[..., object],
    params: Sequence[Parameter],
    values: Sequence[Value],
    device: torch.device = CPU,
) -> None:
    """Call the entry as a device does, where no two arguments share memory; nothing else is copied.

    An argument that is written and overlaps another one is run on a copy, as are all tensors on another
    device than the CPU; what is written is copied back when the call returns, in order of the parameters.
    Gradients are not recorded, on whatever thread a kernel runs.
    """
    apart: list[Value] = []
    copies: list[tuple[torch.Tensor, torch.Tensor]] = []
    for position, (param, value) in enumerate(zip(params, values, strict=True)):
        if not isinstance(value, torch.Tensor):
            apart.append(value)
            continue
        own = value.detach()
        used = own.to(device, copy=_overlaps(position, params, values))
        apart.append(used)
        if used is not own and param.is_written:
            copies.append((own, used))
    entry(*apart)
    for own, used in copies:
        own.copy_(used)


def _overlaps(position: int, params: Sequence[Parameter], values: Sequence[Value]) -> bool:
    """True for a written argument that shares memory with another one."""
    value = values[position]
    if not params[position].is_written or not isinstance(value, torch.Tensor):
        return False
    return any(
        share_memory(value, other)
        for i, other in enumerate(values)
        if i != position and isinstance(other, torch.Tensor)
    )


def share_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True if the memory between the first and the last element of two tensors overlaps."""
    if one.device != other.device or not one.numel() or not other.numel():
        return False
    first, second = _memory(one), _memory(other)
    return first[0] < second[1] and second[0] < first[1]


def _memory(tensor: torch.Tensor) -> tuple[int, int]:
    steps = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (steps + 1) * tensor.element_size()
