"""Which tensors meet which parameters of an entry by name, and whether their shapes go together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from pypto_tmpl.errors import PyptoTmplError, closest
from pypto_tmpl.execution.entry import Entry, Parameter, user_name
from pypto_tmpl.execution.extents import agreed_extents, misfit
from pypto_tmpl.ir.carriers import TORCH_NAMES


class MissingTensorError(PyptoTmplError, KeyError):
    """A parameter of the entry, or a name of the given tensors, has nothing to meet."""

    slug = "missing-tensor"


class TensorShapeError(PyptoTmplError, ValueError):
    """The tensors for an entry do not have the shapes of its parameters, or disagree about a dimension."""

    slug = "tensor-shape"


@dataclass(frozen=True, slots=True)
class Binding:
    """The arguments of one call, and the tensors by the names of the parameters.

    ``sources`` names the input that a parameter was copied from; ``zeroed`` are pure outputs of which neither
    an input nor an expected tensor is known, with the shape that they were given.
    """

    arguments: list[Any]
    tensors: dict[str, torch.Tensor]
    sources: dict[str, str] = field(default_factory=dict)
    zeroed: dict[str, list[int]] = field(default_factory=dict)


def bind_named(
    entry: Entry, inputs: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
) -> Binding:
    """Fresh copies of the inputs in the order of the entry's parameters; scalars become numbers.

    Names are matched as they stand, then without what SSA form adds to them. A pure output that is not among
    the inputs starts as zeros: of the expected shape and dtype, or else of those of the parameter. A handle
    that is not among them is None.
    Raises MissingTensorError, which lists all names that do not match; TensorShapeError.
    """
    sources = _matched(entry, inputs, expected)
    extents = _agreed(entry, {name: inputs[key] for name, key in sources.items()})
    binding = Binding([], {}, sources)
    for parameter in entry.parameters:
        key = sources.get(parameter.name)
        if key is None and parameter.is_handle:
            binding.arguments.append(None)
            continue
        if key is not None:
            value = inputs[key].detach().clone()
        else:
            value = _output_of(parameter, expected, extents, binding)
        if parameter.is_scalar and value.numel() == 1:
            binding.arguments.append(value.item())
        else:
            binding.arguments.append(value)
            binding.tensors[parameter.name] = value
    return binding


def _output_of(
    parameter: Parameter, expected: Mapping[str, torch.Tensor], extents: Mapping[str, int], binding: Binding
) -> torch.Tensor:
    key = _key_of(parameter, expected)
    if key is not None:
        return torch.zeros_like(expected[key], memory_format=torch.contiguous_format)
    shape = [
        extents.get(extent, extent) if isinstance(extent, str) else extent for extent in parameter.shape or ()
    ]
    unknown = [extent for extent in shape if not isinstance(extent, int)]
    if unknown or parameter.dtype not in TORCH_NAMES:
        what = f"the output {parameter.name!r} is not among the inputs, and its shape is not known"
        raise MissingTensorError(what, notes=["give it with the inputs, or with the expected tensors"])
    sizes = [extent for extent in shape if isinstance(extent, int)]
    binding.zeroed[parameter.name] = sizes
    stored = [*sizes[:-1], sizes[-1] // 2] if parameter.is_packed and sizes else sizes
    return torch.zeros(stored, dtype=getattr(torch, TORCH_NAMES[parameter.dtype]))


# Names


def _matched(
    entry: Entry, inputs: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
) -> dict[str, str]:
    """The key of each parameter that is among the inputs. Raises MissingTensorError with all mismatches."""
    found = _pairs(entry, inputs)
    known = [*(parameter.name for parameter in entry.parameters), *filter(None, entry.returned)]
    extra = [key for key in inputs if key not in found.values()]
    missing = [p.name for p in entry.parameters if p.name not in found and _is_needed(p)]
    wrong = [name for name in expected if output_name(entry, name) is None]
    problems = [
        *(
            f"parameter {name!r} of the entry {entry.name!r} is not among the inputs{_near(name, extra)}"
            for name in missing
        ),
        *(f"the input {key!r} is no parameter of the entry{_near(key, missing or known)}" for key in extra),
        *(
            f"the expected {name!r} is no tensor that the entry {entry.name!r} takes or returns"
            f"{_near(name, known)}"
            for name in wrong
        ),
    ]
    if problems:
        parameters = ", ".join(parameter.name for parameter in entry.parameters)
        lists = [f"parameters: {parameters}", f"inputs: {', '.join(sorted(inputs)) or 'none'}"]
        if wrong and any(entry.returned):
            lists.append(f"returned: {', '.join(filter(None, entry.returned))}")
        what = problems[0]
        if len(problems) > 1:
            what = f"{len(problems)} names do not match the entry {entry.name!r}"
        raise MissingTensorError(what, notes=[*(problems if len(problems) > 1 else []), *lists])
    return found


def _pairs(entry: Entry, keys: Collection[str]) -> dict[str, str]:
    """Parameters with their keys: all as they stand in the IR, or all by the user's name, or as they fit."""
    for attribute in ("exact", "name"):
        names = {parameter.name: getattr(parameter, attribute) for parameter in entry.parameters}
        needed = [names[p.name] for p in entry.parameters if _is_needed(p)]
        if all(name in keys for name in needed):
            return _completed(entry, keys, {name: key for name, key in names.items() if key in keys})
    return _completed(entry, keys, {p.name: p.exact for p in entry.parameters if p.exact in keys})


def _is_needed(parameter: Parameter) -> bool:
    return not (parameter.is_pure_output or parameter.is_handle)


def _completed(entry: Entry, keys: Collection[str], found: dict[str, str]) -> dict[str, str]:
    """``found`` and, of the keys that are left, those that parameters without one may mean."""
    for parameter in entry.parameters:
        if parameter.name not in found:
            key = _key_of(parameter, [key for key in keys if key not in found.values()])
            if key is not None:
                found[parameter.name] = key
    return found


def _key_of(parameter: Parameter, keys: Collection[str]) -> str | None:
    """The key of a parameter: its name in the IR, the user's, or the only one that differs by a suffix."""
    for name in (parameter.exact, parameter.name):
        if name in keys:
            return name
    alike = [key for key in keys if user_name(key) == parameter.name]
    return alike[0] if len(alike) == 1 else None


def output_name(entry: Entry, wanted: str) -> str | None:
    """The tensor of an entry that an expected name means: a parameter or what is returned; None if none."""
    known = [*(p.name for p in entry.parameters if not p.is_scalar), *filter(None, entry.returned)]
    if wanted in known:
        return wanted
    exact = next((p.name for p in entry.parameters if p.exact == wanted), None)
    return exact or (user_name(wanted) if user_name(wanted) in known else None)


def _near(name: str, candidates: Sequence[str]) -> str:
    alike = (candidate for candidate in candidates if user_name(candidate) == user_name(name))
    guess = next(alike, None) or closest(name, candidates)
    return f"; did you mean {guess!r}?" if guess else ""


# Shapes


def _agreed(entry: Entry, given: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """Dynamic dimensions by name. Raises TensorShapeError where tensors do not fit, naming both parameters.

    A kernel may be given tiles at the edge of a tensor, which are smaller than its parameters.
    """
    if entry.is_kernel:
        return {}
    pairs = [(parameter, given[parameter.name]) for parameter in entry.parameters if parameter.name in given]
    for parameter, value in pairs:
        if not parameter.is_scalar and (wrong := misfit(parameter, value)):
            raise TensorShapeError(wrong)
    known, wrong = agreed_extents(pairs)
    if wrong:
        raise TensorShapeError(wrong)
    return known
