"""From the arguments of a call to what the kernel is specialised for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.language.jit.body import bound_dynamics
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.jit.metadata import (
    Info,
    ScalarInfo,
    TensorInfo,
    is_tensor,
    scalar_info,
    tensor_info,
)
from pypto_tmpl.language.jit.parameters import Parameter


class ArgumentMismatchError(TypeError, ValueError):
    """A tensor whose shape is not the one that its parameter is declared with."""


def bound_arguments(function: Declared, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the names of their parameters; defaults are filled in.

    Outputs may be left out, and in signature mode anything may. Raises TypeError for arguments that the
    function does not take, or lacks.
    """
    try:
        bound = function.signature().bind_partial(*args, **kwargs)
    except TypeError as error:
        names = ", ".join(parameter.name for parameter in function.parameters())
        raise TypeError(f"{function.__name__}(): {error}; parameters: {names}") from None
    bound.apply_defaults()
    given = dict(bound.arguments)
    if any(is_tensor(value) for value in given.values()):
        missing = [
            parameter.name
            for parameter in function.parameters()
            if parameter.name not in given and parameter.direction is not ParamDirection.Out
        ]
        if missing:
            raise TypeError(f"{function.__name__}() is called without {', '.join(missing)}")
    return given


def argument_infos(function: Declared, given: Mapping[str, Any]) -> list[Info]:
    """Metadata of every parameter, in order, from arguments or else from annotations."""
    dynamic = dynamic_axes(function)
    found: list[Info] = []
    for parameter in function.parameters():
        what = f"{function.__name__}(): argument {parameter.name!r}"
        if parameter.kind == "scalar":
            assert parameter.dtype is not None
            found.append(scalar_info(given.get(parameter.name), parameter.dtype, what))
        elif parameter.kind == "array":
            raise TypeError(f"{what} is an array, which only functions that JIT functions call can have")
        elif parameter.name in given:
            found.append(_tensor(parameter, given[parameter.name], dynamic, what))
        else:
            found.append(declared_info(parameter, dynamic, what))
    return found


def dynamic_axes(function: Declared) -> dict[tuple[str, int], str]:
    """The dimensions that ``bind_dynamic`` makes dynamic: by tensor and axis."""
    source = function.source
    found = {}
    for tensor, axis, dimension in bound_dynamics(source.tree.body, source, function.around):
        found[tensor, axis] = dimension
    return found


def with_dynamic(
    parameter: Parameter, info: TensorInfo, dynamic: Mapping[tuple[str, int], str]
) -> TensorInfo:
    """``info`` with the names of dimensions that the annotation or ``bind_dynamic`` makes dynamic."""
    shape = list(info.shape)
    for axis, extent in enumerate(parameter.shape or ()):
        if isinstance(extent, str) and axis < len(shape):
            shape[axis] = extent
    for (tensor, axis), name in dynamic.items():
        if tensor == parameter.name and -len(shape) <= axis < len(shape):
            shape[axis] = name
    return TensorInfo(tuple(shape), info.dtype, parameter.layout, parameter.is_distributed)


def declared_info(parameter: Parameter, dynamic: Mapping[tuple[str, int], str], what: str) -> TensorInfo:
    """The metadata that the annotation gives. Raises ValueError where it leaves shape or dtype open."""
    declared = parameter.declared
    if declared is None:
        raise ValueError(f"{what} is not given, and its annotation has no shape and dtype")
    return with_dynamic(parameter, declared, dynamic)


def _tensor(
    parameter: Parameter, value: Any, dynamic: Mapping[tuple[str, int], str], what: str
) -> TensorInfo:
    if not is_tensor(value):
        raise TypeError(f"{what} is a tensor, got {type(value).__name__}")
    info = tensor_info(value, parameter.dtype, what)
    if not fits(parameter, info):
        wanted = ", ".join(str(extent) for extent in parameter.shape or ())
        found = ", ".join(str(extent) for extent in info.shape)
        raise ArgumentMismatchError(f"{what} has the shape [{found}], it is declared as [{wanted}]")
    return with_dynamic(parameter, info, dynamic)


def fits(parameter: Parameter, info: TensorInfo) -> bool:
    """Whether a tensor may be what a parameter is declared as, by dtype and the extents that are numbers."""
    if parameter.kind != "tensor" or (parameter.dtype is not None and parameter.dtype != info.dtype):
        return False
    if parameter.shape is None:
        return True
    pairs = zip(info.shape, parameter.shape, strict=False)
    numbers = [pair for pair in pairs if all(isinstance(extent, int) for extent in pair)]
    return len(info.shape) == len(parameter.shape) and all(given == wanted for given, wanted in numbers)


def baked_values(function: Declared, infos: Sequence[Info]) -> dict[str, Any]:
    """The values of scalars that are baked into the body."""
    pairs = zip(function.parameters(), infos, strict=True)
    return {
        parameter.name: info.value
        for parameter, info in pairs
        if isinstance(info, ScalarInfo) and info.value is not None
    }
