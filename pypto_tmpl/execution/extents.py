"""Whether the shapes of arguments go together: with the parameters, and about dynamic dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from pypto_tmpl.execution.entry import Parameter

Value = torch.Tensor | int | float | bool


def extents_of(parameter: Parameter, value: torch.Tensor) -> tuple[int, ...]:
    """The extents of a tensor in elements of its parameter."""
    found = tuple(value.shape)
    return (*found[:-1], found[-1] * 2) if parameter.is_packed and found else found


def misfit(parameter: Parameter, value: torch.Tensor) -> str:
    """How the extents of a tensor are not the fixed ones of its parameter, "" where they are."""
    found, shape = extents_of(parameter, value), parameter.shape
    if shape is None or _fits(found, shape):
        return ""
    wanted = ", ".join("?" if extent is None else str(extent) for extent in shape)
    return f"tensor {parameter.name!r} has shape {list(found)}, the parameter has [{wanted}]"


def _fits(found: Sequence[int], shape: Sequence[int | str | None]) -> bool:
    return len(found) == len(shape) and all(
        not isinstance(extent, int) or size == extent for size, extent in zip(found, shape, strict=True)
    )


def agreed_extents(given: Iterable[tuple[Parameter, Value]]) -> tuple[dict[str, int], str]:
    """Dynamic dimensions by name, from tensors that fit and integers; and how two disagree, "" if none do."""
    known: dict[str, tuple[int, str]] = {}
    for parameter, value in given:
        for dimension, size in _dimensions(parameter, value):
            first, other = known.setdefault(dimension, (size, parameter.name))
            if first != size:
                what = f"dimension {dimension} is {first} in {other!r}, and {size} in {parameter.name!r}"
                return {}, what
    return {dimension: size for dimension, (size, _) in known.items()}, ""


def _dimensions(parameter: Parameter, value: Value) -> list[tuple[str, int]]:
    """The dynamic dimensions that a tensor or number gives."""
    if parameter.is_scalar:
        number = value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value
        return [(parameter.name, int(number))] if isinstance(number, int) else []
    if not isinstance(value, torch.Tensor) or parameter.shape is None:
        return []
    pairs = zip(parameter.shape, extents_of(parameter, value), strict=True)
    return [(extent, size) for extent, size in pairs if isinstance(extent, str)]
