"""Inputs that a program only reads, but that a stage has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import torch

from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.compare.tolerance import EXACT
from pypto_tmpl.execution.changes import same_cells
from pypto_tmpl.execution.entry import Entry
from pypto_tmpl.execution.named import Binding
from pypto_tmpl.execution.statement_place import StatementPlace

_EXACT = Rules(EXACT, equal_nan=True)


def changed_inputs(
    entry: Entry, binding: Binding, inputs: Mapping[str, torch.Tensor], expected: Collection[str]
) -> dict[str, torch.Tensor]:
    """What has become of inputs that the entry only reads, of those that are not as they were."""
    return {
        parameter.name: binding.tensors[parameter.name]
        for parameter in entry.parameters
        if not parameter.is_written
        and parameter.name in binding.tensors
        and not {parameter.name, parameter.exact} & {*expected}
        and not same_cells(binding.tensors[parameter.name], inputs[binding.sources[parameter.name]])
    }


def verdict_on(
    name: str, now: torch.Tensor, before: torch.Tensor, place: StatementPlace | None
) -> TensorVerdict:
    """The verdict on an input that was changed, with the statement that did it."""
    found = compare_tensors(name, now, before, _EXACT)
    reason = "the program only reads this input, but the stage has changed it"
    if place is not None:
        where = f", {place.source}" if place.source else ""
        reason += f"\nchanged by: {place.function}{where}: {place.text}"
    return replace(found, passed=False, reason=reason, is_input=True)
