"""``error_distribution``: measures how far an output is off, to choose the limits of another comparator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from pypto_tmpl.compare.elements import NonFinite, parts, shape_difference
from pypto_tmpl.compare.quantiles import Metric, finite_quantiles
from pypto_tmpl.compare.ratio import relative_difference
from pypto_tmpl.compare.verdicts import Comparator, Verdict

_FLOOR = 1e-6  # relative differences are not taken of smaller magnitudes


def error_distribution(
    diff_thds: Sequence[float] = (1e-3, 3e-3, 5e-3, 1e-2, 3e-2, 5e-2),
    quantiles: Sequence[float] = (0.5, 0.9, 0.99, 0.999, 0.9999, 1.0),
    always_pass: bool = True,
) -> Comparator:
    """Print the distribution of an output's errors; a measurement that passes.

    With ``always_pass`` off, NaN or infinities in the output fail. Values are taken in float32, quantiles
    of the finite ones.
    """

    def error_distribution(actual: torch.Tensor, expected: torch.Tensor, **context: Any) -> Verdict:
        if (why := shape_difference(actual, expected)) is not None:
            print(f"    {why}")
            return always_pass, f"    {why}"
        illegal = NonFinite()
        for part in parts(actual, expected):
            illegal.count(part.as_float32())
        message = ""
        if illegal.actual_nan or illegal.actual_inf:
            message = f"    illegal values in actual: NaN={illegal.actual_nan} Inf={illegal.actual_inf}"
            print(message)
        for line in _report(actual, expected, diff_thds, quantiles):
            print(f"    {line}")
        return always_pass or not message, message

    return error_distribution


def _report(
    actual: torch.Tensor, expected: torch.Tensor, diff_thds: Sequence[float], quantiles: Sequence[float]
) -> Iterator[str]:
    relative_l2, cosine, mean = _norms(actual, expected)
    yield f"rel-L2 = {relative_l2:.4%}  cosine = {cosine:.8f}  numel={actual.numel()}"
    if not actual.numel():
        return
    for threshold in diff_thds:
        share, worst = _above(actual, expected, threshold)
        yield f"  diff_thd={threshold:g} frac>thd={share:.4%} worst={worst:.3e}"

    def pairs() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for part in parts(actual, expected):
            wide = part.as_float32()
            yield wide.actual, wide.expected

    metrics: dict[str, Metric] = {
        "rel diff": lambda: (_plain_relative(a, e) for a, e in pairs()),
        "abs diff": lambda: ((a - e).abs() for a, e in pairs()),
        "|golden|": lambda: (e.abs() for _, e in pairs()),
    }
    for name, metric in metrics.items():
        found = finite_quantiles(metric, quantiles)
        values = " ".join(f"p{100 * q:g}={v:.3e}" for q, v in zip(quantiles, found, strict=True))
        yield f"  {name}: {values}"
    yield f"  mean |golden| = {mean:.3e}"


def _norms(actual: torch.Tensor, expected: torch.Tensor) -> tuple[float, float, float]:
    """Relative L2 norm of the error, cosine of both sides, mean magnitude of the expected one."""
    error = left = right = dot = magnitude = 0.0
    for part in parts(actual, expected):
        wide = part.as_float32()
        a, e = wide.actual.double(), wide.expected.double()
        error += float((a - e).square().sum())
        left += float(a.square().sum())
        right += float(e.square().sum())
        dot += float((a * e).sum())
        magnitude += float(e.abs().sum())
    relative_l2 = math.sqrt(error / right) if right else (math.inf if error else 0.0)
    norms = math.sqrt(left) * math.sqrt(right)
    cosine = dot / norms if norms else (1.0 if left == right else 0.0)
    return relative_l2, cosine, magnitude / actual.numel() if actual.numel() else 0.0


def _above(actual: torch.Tensor, expected: torch.Tensor, threshold: float) -> tuple[float, float]:
    """Share of the elements above a threshold, by the rule of ``ratio_reldiff``, and the worst of them."""
    count, worst = 0, 0.0
    for part in parts(actual, expected):
        wide = part.as_float32()
        difference = relative_difference(wide.actual, wide.expected, threshold)
        bad = difference[difference > threshold]
        count += bad.numel()
        worst = max(worst, float(bad.max())) if bad.numel() else worst
    return count / actual.numel(), worst


def _plain_relative(a: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    return (a - e).abs() / torch.maximum(a.abs(), e.abs()).clamp(min=_FLOOR)
