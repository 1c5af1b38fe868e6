"""The arguments of a call of an entry: checked against its parameters, scalars as Python numbers."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

import torch

from pypto_tmpl.codegen.filters import TORCH_NAMES
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.entry import base_name
from pypto_tmpl.runtime.dfx import warn_caller
from pypto_tmpl.runtime.manifest import Entry, EntryParam

_PACKED = "FP4"  # two elements in one of torch's


class ArgumentError(PyptoTmplError, ValueError):
    """Arguments that do not fit the parameters of the entry."""

    slug = "argument"


def bind_arguments(
    entry: Entry, args: Sequence[object], *, must_agree: bool = False
) -> list[torch.Tensor | int | float | bool]:
    """The arguments as the entry takes them: tensors as they are, ctypes scalars as Python numbers.

    Tensors whose extents are not those of their parameters, or that disagree about a dynamic dimension, are
    refused if they ``must_agree``; else a warning tells of the former, and the script of the latter.

    Raises TypeError for an argument of another kind, ArgumentError (a ValueError) for a wrong number of
    arguments, and for a tensor that is not contiguous, not on the CPU, or whose dtype or rank is not that of
    its parameter.
    """
    if len(args) != len(entry.params):
        names = ", ".join(param.name for param in entry.params)
        raise ArgumentError(
            f"entry {entry.function!r} takes {len(entry.params)} arguments, got {len(args)}",
            notes=[f"parameters: {names}"],
        )
    pairs = list(zip(entry.params, args, strict=True))
    values = [_argument(i, param, arg) for i, (param, arg) in enumerate(pairs)]
    for param, value in zip(entry.params, values, strict=True):
        if wrong := _wrong_extents(param, value):
            if must_agree:
                raise ArgumentError(wrong)
            warn_caller(wrong, UserWarning)
    if must_agree:
        _check_agreement(entry, values)
    return values


def _check_agreement(entry: Entry, values: Sequence[torch.Tensor | int | float | bool]) -> None:
    """Raise ArgumentError, naming both parameters, for two that disagree about a dynamic dimension."""
    known: dict[str, tuple[int, str]] = {}
    dynamic = {extent for param in entry.params for extent in param.shape or () if isinstance(extent, str)}
    for param, value in zip(entry.params, values, strict=True):
        found = zip(param.shape or (), _extents(param, value), strict=True)
        if param.shape is None and param.name in set(map(base_name, dynamic)):
            found = zip([param.name], [int(value)], strict=True)
        for extent, size in found:
            if not isinstance(extent, str):
                continue
            first, other = known.setdefault(base_name(extent), (size, param.name))
            if first != size:
                what = f"dimension {extent} is {first} in {other!r}, and {size} in {param.name!r}"
                raise ArgumentError(what)


def _extents(param: EntryParam, value: object) -> tuple[int, ...]:
    """The extents of a tensor in elements, () of a number."""
    if not isinstance(value, torch.Tensor):
        return ()
    found = tuple(value.shape)
    return (*found[:-1], found[-1] * 2) if param.dtype == _PACKED and found else found


def _argument(position: int, param: EntryParam, arg: object) -> torch.Tensor | int | float | bool:
    if not isinstance(arg, torch.Tensor | ctypes._SimpleCData):
        raise TypeError(
            f"Argument at position {position} must be torch.Tensor, DeviceTensor or ctypes scalar, "
            f"got {type(arg).__name__}"
        )
    is_tensor = isinstance(arg, torch.Tensor)
    if is_tensor != (param.shape is not None):
        kind = "scalar" if param.shape is None else "tensor"
        raise TypeError(f"parameter {param.name!r} is a {kind}, got {type(arg).__name__}")
    if isinstance(arg, torch.Tensor):
        arg = _of_same_bits(param, arg)
        _check_tensor(param, arg)
        return arg
    return _number(param, arg)


def _of_same_bits(param: EntryParam, arg: torch.Tensor) -> torch.Tensor:
    """Unsigned integers that come as the signed ones of their width, which torch computes with."""
    wanted = getattr(torch, TORCH_NAMES.get(param.dtype, ""), None)
    if wanted is None or wanted is arg.dtype or str(arg.dtype).replace(".int", ".uint") != str(wanted):
        return arg
    return arg.view(wanted)


def _check_tensor(param: EntryParam, arg: torch.Tensor) -> None:
    if arg.device.type != "cpu":
        raise ArgumentError(f"tensor {param.name!r} is on {arg.device}, not on the CPU")
    if not arg.is_contiguous():
        raise ArgumentError(f"tensor {param.name!r} is not contiguous", notes=["pass tensor.contiguous()"])
    wanted = TORCH_NAMES.get(param.dtype)
    if wanted is not None and arg.dtype is not getattr(torch, wanted):
        raise ArgumentError(f"tensor {param.name!r} is {arg.dtype}, the parameter is torch.{wanted}")
    shape = param.shape or ()
    found = _extents(param, arg)
    if len(found) != len(shape):
        raise ArgumentError(f"tensor {param.name!r} has shape {list(found)}, {_wanted(shape)}")


def _wrong_extents(param: EntryParam, value: torch.Tensor | int | float | bool) -> str:
    """How a tensor's extents are not the fixed ones of its parameter, "" where they are."""
    found, shape = _extents(param, value), param.shape or ()
    if all(not isinstance(extent, int) or size == extent for size, extent in zip(found, shape, strict=True)):
        return ""
    return f"tensor {param.name!r} has shape {list(found)}, {_wanted(shape)}"


def _wanted(shape: Sequence[int | str | None]) -> str:
    return f"the parameter has [{', '.join('?' if extent is None else str(extent) for extent in shape)}]"


def _number(param: EntryParam, arg: object) -> int | float | bool:
    """The value of a ctypes scalar; 16-bit floats come as the bits of their value."""
    value = getattr(arg, "value", None)
    if not isinstance(value, int | float):
        raise TypeError(f"parameter {param.name!r} takes a number, got {type(arg).__name__}")
    if param.dtype in ("FP16", "BF16") and isinstance(arg, ctypes.c_uint16):
        if param.dtype == "FP16":
            return float(struct.unpack("<e", struct.pack("<H", value))[0])
        return float(struct.unpack("<f", struct.pack("<I", int(value) << 16))[0])
    is_float = param.dtype in ("FP16", "BF16", "FP32")
    if is_float != isinstance(value, float):
        raise TypeError(f"scalar {param.name!r} is {param.dtype}, got {type(arg).__name__}")
    return bool(value) if param.dtype == "BOOL" else value if is_float else int(value)
