"""Other values for one operand or keyword of a sample's call, and whether the call minds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import torch
from ops.references import Shaped
from ops.sample_calls import SampleCall, same

from pypto_tmpl.ops.model import KwargSpec, MemorySpace

# Values of keywords whose specification does not list them.
TYPE_VALUES: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "DataType": ("FP32", "FP16", "BF16", "INT32", "INT16", "UINT32"),
    "MemorySpace": get_args(MemorySpace),
    "TensorLayout": ("ND", "DN", "NZ"),
    "TileLayout": ("row_major", "col_major"),
    "PadValue": ("zero", "min", "max"),
}
NAMED_VALUES: dict[str, tuple[Any, ...]] = {
    "core_type": ("mix", "aiv_only", "aic_only"),
    "mode": ("hard", "soft"),
    "acc_phase": ("unspecified", "partial", "final"),
    "axis": (0, -1),
    "dim": (0, 1),
    "dir_mask": (1, 2, 3),
    "split": (0, 1, 2),
}
# Operands of which only the extents count: another extent instead of other numbers.
ONLY_EXTENTS = {
    ("tensor.dim", "tensor"), ("tensor.expand_clone", "target"),
    ("tile.expands", "target"), ("tensor.expands", "target"),
    ("tile.row_expand", "target"), ("tensor.row_expand", "target"),
    ("tile.col_expand", "target"), ("tensor.col_expand", "tensor"),
}  # fmt: skip


def perturbed(call: SampleCall, name: str) -> Iterator[SampleCall]:
    """The call with other values of an operand or keyword, one after the other."""
    keyword = next((spec for spec in call.entry.kwargs if spec.name == name), None)
    if keyword is not None:
        for value in keyword_values(keyword, call):
            yield call.with_sample(**{name: value})
    elif (call.op, name) in ONLY_EXTENTS:
        yield from other_extents(call, name)
    elif name in call.inputs:
        yield call.with_input(name, other_numbers(call, name))
    elif isinstance(call.given.get(name), list):
        items = call.given[name]
        for position in range(len(items)):
            for step in (1, -1):
                changed = [item + step * (at == position) for at, item in enumerate(items)]
                yield call.with_sample(**{name: changed})
    elif isinstance(call.given.get(name), bool):
        yield call.with_sample(**{name: str(not call.given[name])})
    elif isinstance(call.given.get(name), int | float):
        for step in (1, -1):
            yield call.with_sample(**{name: str(call.given[name] + step)})


def keyword_values(keyword: KwargSpec, call: SampleCall) -> list[Any]:
    """Values of a keyword that are not the one which the call has."""
    present = call.keywords.get(keyword.name, keyword.default if keyword.has_default else None)
    if keyword.values:
        values: tuple[Any, ...] = tuple(keyword.values)
    elif keyword.name in NAMED_VALUES:
        values = NAMED_VALUES[keyword.name]
    elif keyword.type == "int":
        values = (1,) if present is None else (present + 1, present - 1)
    elif keyword.type == "float":
        values = (1.5,) if present is None else (present + 1.5,)
    else:
        values = TYPE_VALUES[keyword.type]
    return [value for value in values if value != present]


def other_extents(call: SampleCall, name: str) -> Iterator[SampleCall]:
    """The call with one extent of an operand longer, where the other operands allow it."""
    typed, inputs = call.given[name], call.inputs.keys() - {name}
    for axis in range(len(typed.shape)):
        shape = [extent + (at == axis) for at, extent in enumerate(typed.shape)]
        sample = call.sample | {name: f"{typed.dtype}{shape}"}
        changed = SampleCall(call.op, sample, {other: call.inputs[other] for other in inputs})
        try:
            changed.value(changed.text())
        except RuntimeError:  # the shapes do not fit
            continue
        yield changed


def other_numbers(call: SampleCall, name: str) -> Any:
    """Numbers for an input that differ from those which the call has."""
    for salt in range(20):
        made = call.made_up(name, f"another {salt}")
        if not same(numbers(made), numbers(call.inputs[name])):
            return made
    raise AssertionError(f"{call.op} {name}: no other numbers for {call.given[name]}")


def numbers(value: Any) -> Any:
    """The tensor or the list of an input."""
    return value.data if isinstance(value, Shaped) else value


def minds(call: SampleCall, changed: SampleCall) -> bool:
    """Whether the text, in a kernel or in orchestration code, or the defined part of the value differs."""
    for in_kernel in (True, False):
        if changed.text(in_kernel=in_kernel) != call.text(in_kernel=in_kernel):
            return True
    before, after = call.value(call.text()), changed.value(changed.text())
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return not same(before, after)
    defined = [value.expected().shape for value in (call, changed)]
    common = tuple(slice(0, min(extents)) for extents in zip(*defined, strict=True))
    return before.shape != after.shape or not same(before[common], after[common])
