"""``error_distribution``: measures how far an output is off, to choose the limits of another comparator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import torch

from pypto_tmpl.debug.comparison import Comparator, Verdict
from pypto_tmpl.golden.elements import NonFinite, parts, shape_difference
from pypto_tmpl.golden.ratio import relative_difference

_FLOOR = 1e-6  # relative differences are not taken of smaller magnitudes
_HALF_BITS = 16

# The non-negative float32 values of a metric, part by part; it is walked more than once.
_Metric: TypeAlias = Callable[[], Iterator[torch.Tensor]]


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

    metrics: dict[str, _Metric] = {
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


def finite_quantiles(metric: _Metric, quantiles: Sequence[float]) -> list[float]:
    """Quantiles of the finite values, interpolated between the two nearest; NaN where there are none.

    The bits of non-negative floats are ordered as the floats are: the value of a rank is found by counting
    upper halves, then lower halves, which needs no sorting and no memory.
    """
    counts = torch.zeros(1 << _HALF_BITS, dtype=torch.int64)
    for values in metric():
        counts += _histogram(_finite_bits(values) >> _HALF_BITS)
    total = int(counts.sum())
    if not total:
        return [math.nan for _ in quantiles]
    ranks = [q * (total - 1) for q in quantiles]
    wanted = sorted({bound for rank in ranks for bound in (math.floor(rank), math.ceil(rank))})
    found = _values_of_ranks(metric, counts, wanted)
    return [
        found[math.floor(rank)]
        + (found[math.ceil(rank)] - found[math.floor(rank)]) * (rank - math.floor(rank))
        for rank in ranks
    ]


def _values_of_ranks(metric: _Metric, counts: torch.Tensor, ranks: Sequence[int]) -> dict[int, float]:
    ends = counts.cumsum(0)
    uppers = {rank: int(torch.searchsorted(ends, rank, right=True)) for rank in ranks}
    lower_counts = {upper: torch.zeros(1 << _HALF_BITS, dtype=torch.int64) for upper in uppers.values()}
    for values in metric():
        bits = _finite_bits(values)
        for upper, lower in lower_counts.items():
            lower += _histogram(bits[bits >> _HALF_BITS == upper] & ((1 << _HALF_BITS) - 1))
    found = {}
    for rank, upper in uppers.items():
        before = int(ends[upper] - counts[upper])
        lower_ends = lower_counts[upper].cumsum(0)
        low = int(torch.searchsorted(lower_ends, rank - before, right=True))
        whole = torch.tensor((upper << _HALF_BITS) | low, dtype=torch.int32)
        found[rank] = float(whole.view(torch.float32))
    return found


def _finite_bits(values: torch.Tensor) -> torch.Tensor:
    return values[values.isfinite()].contiguous().view(torch.int32)


def _histogram(indices: torch.Tensor) -> torch.Tensor:
    return torch.bincount(indices, minlength=1 << _HALF_BITS)
