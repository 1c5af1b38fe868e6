"""Quantiles of any number of values, which torch.quantile has for 16 million at most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from typing import TypeAlias

import torch

_HALF_BITS = 16

# The non-negative float32 values of a metric, part by part; it is walked more than once.
Metric: TypeAlias = Callable[[], Iterator[torch.Tensor]]


def finite_quantiles(metric: Metric, quantiles: Sequence[float]) -> list[float]:
    """Quantiles of the finite values, interpolated between the two nearest; NaN where there are none."""
    values = _FiniteValues(metric)
    if not values.count:
        return [math.nan for _ in quantiles]
    ranks = [q * (values.count - 1) for q in quantiles]
    found = values.of_ranks({bound for rank in ranks for bound in (math.floor(rank), math.ceil(rank))})
    return [
        found[math.floor(rank)]
        + (found[math.ceil(rank)] - found[math.floor(rank)]) * (rank - math.floor(rank))
        for rank in ranks
    ]


def nearest_quantiles(metric: Metric, quantiles: Sequence[float]) -> list[float]:
    """Quantiles of the finite values by nearest rank, each one of them; NaN where there are none."""
    values = _FiniteValues(metric)
    if not values.count:
        return [math.nan for _ in quantiles]
    ranks = [round(q * (values.count - 1)) for q in quantiles]
    found = values.of_ranks(set(ranks))
    return [found[rank] for rank in ranks]


class _FiniteValues:
    """The finite values of a metric in order.

    The bits of non-negative floats are ordered as the floats are: the value of a rank is found by counting
    upper halves, then lower halves, which needs no sorting and no memory.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._counts = torch.zeros(1 << _HALF_BITS, dtype=torch.int64)
        for values in metric():
            self._counts += _histogram(_finite_bits(values) >> _HALF_BITS)
        self.count = int(self._counts.sum())

    def of_ranks(self, ranks: Set[int]) -> dict[int, float]:
        """The values of some ranks, the smallest having rank 0."""
        return _values_of_ranks(self._metric, self._counts, sorted(ranks))


def _values_of_ranks(metric: Metric, counts: torch.Tensor, ranks: Sequence[int]) -> dict[int, float]:
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
