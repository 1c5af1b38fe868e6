"""Whether a stage computes what the program means: exact where it must be, near where passes may reorder."""

from __future__ import annotations

from collections.abc import Collection

import torch

from pypto_tmpl.compare.tensors import Rules, compare_tensors
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.hunt.running import Tensors

_NEAR = {torch.float16: 1e-2, torch.bfloat16: 5e-2}
_FLOAT = 1e-3  # passes may sum in another order
_OF_LARGEST = 1e-4


def difference(got: Tensors, wanted: Tensors, names: Collection[str]) -> str:
    """What is wrong with the tensors of some names, "" if nothing is."""
    lines = []
    for name in names:
        if name not in got:
            lines.append(f"{name} is not there")
        elif not _same(got[name], wanted[name]):
            verdict = compare_tensors(name, got[name], wanted[name], _rules(wanted[name]))
            if not verdict.passed:
                lines += [verdict.line(), *(f"    {line}" for line in verdict.details())]
    return "\n".join(lines)


def tolerances(expected: Tensors) -> dict[str, str]:
    """How near results have to be to what is expected, as ``validate`` and ``bisect`` are told."""
    rules = {name: _rules(tensor).default for name, tensor in expected.items()}
    return {name: f"{rule.rtol:g},{rule.atol:g}" for name, rule in rules.items()}


def changed(got: Tensors, inputs: Tensors, names: Collection[str]) -> str:
    """What is told of inputs that are not as they were, "" if all are."""
    found = [name for name in names if not _same(got[name], inputs[name])]
    return "\n".join(f"{name}, which the program only reads, was changed" for name in found)


def _same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    return got.dtype == wanted.dtype and got.shape == wanted.shape and torch.equal(got, wanted)


def _rules(wanted: torch.Tensor) -> Rules:
    if not wanted.dtype.is_floating_point:
        return Rules(Tolerance(0.0, 0.0), equal_nan=True)
    near = _NEAR.get(wanted.dtype, _FLOAT)
    finite = wanted[wanted.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return Rules(Tolerance(near, near * max(largest, 1.0) * _OF_LARGEST / _FLOAT), equal_nan=True)
