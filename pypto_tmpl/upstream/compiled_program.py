"""Compiled programs under PyPTO's path ``pypto.ir.compiled_program``, and what their parameters are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.execution.entry import select_entry
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.ir.extents import constant_extent

_DYNAMIC = -1


@dataclass(frozen=True)
class ParamInfo:
    """A parameter of the entry; a scalar has no shape, an extent of -1 is known at run time only."""

    name: str
    direction: ir.ParamDirection
    shape: tuple[int, ...] | None
    dtype: ir.DataType


def extract_param_infos(program: ir.Program) -> tuple[list[ParamInfo], list[int], list[Any]]:
    """The parameters of the entry, the positions of its pure outputs, and the types that it returns.

    Raises EntryError where it is not clear which function that is, TypeError for a parameter that is neither
    tensor nor scalar.
    """
    entry = select_entry(program)
    infos = [_info(*pair) for pair in zip(entry.params, entry.param_directions, strict=True)]
    outputs = [place for place, info in enumerate(infos) if info.direction is ir.ParamDirection.Out]
    return infos, outputs, list(entry.return_types)


def _info(var: ir.Var, direction: ir.ParamDirection) -> ParamInfo:
    if isinstance(var.type, ir.ScalarType):
        return ParamInfo(var.name_hint, direction, None, var.type.dtype)
    if not isinstance(var.type, ir.TensorType):
        raise TypeError(f"parameter {var.name_hint!r} is a {type(var.type).__name__}, no tensor or scalar")
    extents = [constant_extent(extent) for extent in var.type.shape]
    shape = tuple(_DYNAMIC if extent is None else extent for extent in extents)
    return ParamInfo(var.name_hint, direction, shape, var.type.dtype)


def _to_torch_dtype(dtype: ir.DataType) -> torch.dtype:
    """The dtype of a tensor argument. Raises TypeError for one that no tensor has."""
    name = TORCH_NAMES.get(dtype.name)
    if name is None:
        raise TypeError(f"no torch tensor has the dtype {dtype.name}")
    found: torch.dtype = getattr(torch, name)
    return found


def _to_runtime_shape(shape: Sequence[int], dtype: ir.DataType) -> list[int]:
    """The shape of a tensor argument: two packed elements are one of torch's."""
    found = list(shape)
    if dtype == ir.DataType.FP4 and found:
        found[-1] //= 2
    return found


_ParamInfo, _extract_param_infos = ParamInfo, extract_param_infos  # what scripts take from there

__all__ = ["CompiledProgram", "ParamInfo", "extract_param_infos"]
