"""Calls as upstream's compiled programs take them: outputs may be left out, numbers are wrapped."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.ir.carriers import TORCH_NAMES

_C_TYPES: dict[str, type[ctypes._SimpleCData[Any]]] = {
    "BOOL": ctypes.c_bool,
    "INT8": ctypes.c_int8,
    "INT16": ctypes.c_int16,
    "INT32": ctypes.c_int32,
    "INT64": ctypes.c_int64,
    "INDEX": ctypes.c_int64,
    "UINT8": ctypes.c_uint8,
    "UINT16": ctypes.c_uint16,
    "UINT32": ctypes.c_uint32,
    "UINT64": ctypes.c_uint64,
    "FP16": ctypes.c_float,
    "BF16": ctypes.c_float,
    "FP32": ctypes.c_float,
}


@dataclass(frozen=True, slots=True)
class CompleteCall:
    """All arguments of a call; ``created`` are the outputs that were left out, None where none were."""

    arguments: list[object]
    created: list[torch.Tensor] | None

    @property
    def value(self) -> torch.Tensor | tuple[torch.Tensor, ...] | None:
        """What the call returns: the created outputs."""
        if self.created is None:
            return None
        return self.created[0] if len(self.created) == 1 else tuple(self.created)


def complete_call(entry: Entry, has_return: bool, args: Sequence[object], called: str) -> CompleteCall:
    """The arguments of a call in place, or of one that leaves out the pure outputs and returns them.

    Numbers become ctypes scalars of their parameters. Raises TypeError for another number of arguments and
    for a scalar that is no number, ValueError for an output of dynamic shape that is left out.
    """
    outputs = [param for param in entry.parameters if param.is_pure_output]
    created: list[torch.Tensor] | None = None
    given = list(args)
    if len(given) != len(entry.parameters):
        short = len(entry.parameters) - len(outputs)
        if not (has_return and outputs and len(given) == short):
            style = f"{len(entry.parameters)} (in-place)"
            if has_return and outputs:
                style += f" or {short} (return)"
            names = [param.name for param in entry.parameters]
            raise TypeError(f"{called} expects {style} arguments, got {len(given)}. Parameters: {names}")
        created = [_zeros(param) for param in outputs]
        inputs, made = iter(given), iter(created)
        given = [next(made) if param.is_pure_output else next(inputs) for param in entry.parameters]
    wrapped = [_wrapped(param, value) for param, value in zip(entry.parameters, given, strict=True)]
    return CompleteCall(wrapped, created)


def _zeros(param: Parameter) -> torch.Tensor:
    shape = [extent for extent in param.shape or () if isinstance(extent, int)]
    if param.shape is None or len(shape) != len(param.shape):
        raise ValueError(
            f"output {param.name!r} contains dynamic dimensions. "
            "Pass all tensors explicitly (in-place style)."
        )
    if param.is_packed and shape:
        shape[-1] //= 2
    dtype: torch.dtype = getattr(torch, TORCH_NAMES[param.dtype])
    return torch.zeros(shape, dtype=dtype)


def _wrapped(param: Parameter, value: object) -> object:
    """A number as the ctypes scalar of its parameter; anything else as it is."""
    if not param.is_scalar or isinstance(value, ctypes._SimpleCData):
        return value
    if isinstance(value, torch.Tensor):
        raise TypeError(f"scalar {param.name!r} is given a tensor; pass tensor.item()")
    build: Callable[[Any], object] | None = _C_TYPES.get(param.dtype)
    if build is None or not isinstance(value, bool | int | float):
        raise TypeError(f"scalar {param.name!r} is {param.dtype}, got {type(value).__name__}")
    return build(value)
