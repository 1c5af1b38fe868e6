"""The arguments of a drawn program: the same for the same names, types and number."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import torch

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.hunt.programs.drawing import HuntedProgram
from pypto_tmpl.ir.carriers import TORCH_NAMES

UNWRITTEN = 9
"""What the cells of outputs hold before the program runs, so that those which stay unwritten show."""
_INTEGERS = (0, 8)


class InputError(PyptoTmplError, ValueError):
    """A parameter is of a type of which no argument can be made."""

    slug = "hunt-input"


def inputs_of(program: HuntedProgram, entry: ir.Function) -> dict[str, torch.Tensor]:
    """Arguments by the names of the parameters; numbers are tensors without dimensions.

    Floats lie evenly in [-0.5, 0.5), integers in the range of the name, or 0 to 7; pure outputs are filled.
    What a parameter gets does not depend on the others. Raises InputError.
    """
    pairs = zip(entry.params, entry.param_directions, strict=True)
    return {
        var.name_hint: _argument(program.seed, var, direction, program.ranges) for var, direction in pairs
    }


def _argument(
    seed: int, var: ir.Var, direction: ir.ParamDirection, ranges: Mapping[str, tuple[int, int]]
) -> torch.Tensor:
    type_, name = var.type, var.name_hint
    if not isinstance(type_, ir.TensorType | ir.ScalarType) or type_.dtype.name not in TORCH_NAMES:
        raise InputError(f"no argument can be made for {name!r} of the type {ir.python_print(type_)}")
    shape = _extents(type_, name) if isinstance(type_, ir.TensorType) else []
    dtype: torch.dtype = getattr(torch, TORCH_NAMES[type_.dtype.name])
    if direction is ir.ParamDirection.Out:
        return torch.full(shape, UNWRITTEN, dtype=torch.float32).to(dtype)
    generator = torch.Generator().manual_seed(seed * 1_000_003 + zlib.crc32(name.encode()))
    if dtype is torch.float8_e8m0fnu:  # a power of two
        return (torch.rand(shape, generator=generator) + 0.5).to(dtype)
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=generator) - 0.5).to(dtype)
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    return torch.randint(*ranges.get(name, _INTEGERS), shape, generator=generator).to(dtype)


def _extents(type_: ir.TensorType, name: str) -> list[int]:
    extents = [dim.value for dim in type_.shape if isinstance(dim, ir.ConstInt)]
    if len(extents) != len(type_.shape):
        raise InputError(f"{name!r} has an extent that is no number: {ir.python_print(type_)}")
    return extents
