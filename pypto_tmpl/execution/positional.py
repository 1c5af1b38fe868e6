"""The arguments of a call of an entry: checked against its parameters, scalars as Python numbers."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import torch

from pypto_tmpl.errors import PyptoTmplError, warn_caller
from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.execution.extents import Value, agreed_extents, extents_of, misfit
from pypto_tmpl.ir.carriers import TORCH_NAMES


class ArgumentError(PyptoTmplError, ValueError):
    """Arguments that do not fit the parameters of the entry."""

    slug = "argument"


def bind_positional(entry: Entry, args: Sequence[object], *, must_agree: bool = False) -> list[Value]:
    """The arguments as the entry takes them: tensors as they are, ctypes scalars as Python numbers.

    Tensors whose extents are not those of their parameters, or that disagree about a dynamic dimension, are
    refused if they ``must_agree``; else one warning tells of them.

    Raises TypeError for an argument of another kind, ArgumentError (a ValueError) for a wrong number of
    arguments, and for a tensor that is not contiguous, not on the CPU, or whose dtype or rank is not that of
    its parameter.
    """
    if len(args) != len(entry.parameters):
        names = ", ".join(parameter.name for parameter in entry.parameters)
        raise ArgumentError(
            f"entry {entry.name!r} takes {len(entry.parameters)} arguments, got {len(args)}",
            notes=[f"parameters: {names}"],
        )
    pairs = list(zip(entry.parameters, args, strict=True))
    values = [_argument(i, parameter, arg) for i, (parameter, arg) in enumerate(pairs)]
    bound = list(zip(entry.parameters, values, strict=True))
    misfits = [misfit(parameter, value) for parameter, value in bound if isinstance(value, torch.Tensor)]
    wrong = "; ".join(filter(None, [*misfits, agreed_extents(bound)[1]]))
    if wrong and must_agree:
        raise ArgumentError(wrong)
    if wrong:
        warn_caller(wrong, UserWarning)
    return values


def silence_shapes(namespace: dict[str, Any]) -> None:
    """Keep a script from warning of shapes: ``bind_positional`` has, at the line of the user."""
    namespace["_compare_shapes"] = lambda *shapes: None


def _argument(position: int, parameter: Parameter, arg: object) -> Value:
    if not isinstance(arg, torch.Tensor | ctypes._SimpleCData):
        raise TypeError(
            f"Argument at position {position} must be torch.Tensor, DeviceTensor or ctypes scalar, "
            f"got {type(arg).__name__}"
        )
    is_tensor = isinstance(arg, torch.Tensor)
    if is_tensor is parameter.is_scalar:
        kind = "scalar" if parameter.is_scalar else "tensor"
        raise TypeError(f"parameter {parameter.name!r} is a {kind}, got {type(arg).__name__}")
    if isinstance(arg, torch.Tensor):
        arg = _of_same_bits(parameter, arg)
        _check_tensor(parameter, arg)
        return arg
    return _number(parameter, arg)


def _of_same_bits(parameter: Parameter, arg: torch.Tensor) -> torch.Tensor:
    """Unsigned integers that come as the signed ones of their width, which torch computes with."""
    wanted = getattr(torch, TORCH_NAMES.get(parameter.dtype, ""), None)
    if wanted is None or wanted is arg.dtype or str(arg.dtype).replace(".int", ".uint") != str(wanted):
        return arg
    return arg.view(wanted)


def _check_tensor(parameter: Parameter, arg: torch.Tensor) -> None:
    if arg.device.type != "cpu":
        raise ArgumentError(f"tensor {parameter.name!r} is on {arg.device}, not on the CPU")
    if not arg.is_contiguous():
        raise ArgumentError(
            f"tensor {parameter.name!r} is not contiguous", notes=["pass tensor.contiguous()"]
        )
    wanted = TORCH_NAMES.get(parameter.dtype)
    if wanted is not None and arg.dtype is not getattr(torch, wanted):
        raise ArgumentError(f"tensor {parameter.name!r} is {arg.dtype}, the parameter is torch.{wanted}")
    if len(extents_of(parameter, arg)) != len(parameter.shape or ()):
        raise ArgumentError(misfit(parameter, arg))


def _number(parameter: Parameter, arg: object) -> int | float | bool:
    """The value of a ctypes scalar; 16-bit floats come as the bits of their value."""
    value = getattr(arg, "value", None)
    if not isinstance(value, int | float):
        raise TypeError(f"parameter {parameter.name!r} takes a number, got {type(arg).__name__}")
    if parameter.dtype in ("FP16", "BF16") and isinstance(arg, ctypes.c_uint16):
        if parameter.dtype == "FP16":
            return float(struct.unpack("<e", struct.pack("<H", value))[0])
        return float(struct.unpack("<f", struct.pack("<I", int(value) << 16))[0])
    is_float = parameter.dtype in ("FP16", "BF16", "FP32")
    if is_float != isinstance(value, float):
        raise TypeError(f"scalar {parameter.name!r} is {parameter.dtype}, got {type(arg).__name__}")
    return bool(value) if parameter.dtype == "BOOL" else value if is_float else int(value)
