"""How two tensors of one shape differ: how many elements are wrong, by how much, and where.

They are walked a part at a time, so that huge ones need little memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from pypto_tmpl.compare.elements import Element, NonFinite, Part, Worst, first_elements, parts
from pypto_tmpl.compare.places import bad_places
from pypto_tmpl.compare.quantiles import Metric, nearest_quantiles
from pypto_tmpl.compare.rule import absolute_differences, are_same, comparable, magnitudes, wrong_elements
from pypto_tmpl.compare.tolerance import Tolerance

LISTED = 20  # wrong elements that are kept
QUANTILES = (0.5, 0.9, 0.99, 0.999)
MOST_DESCRIBED = 1 << 24  # elements of which it is told where the bad ones lie


@dataclass(slots=True)
class Differences:
    """What all elements came to; quantiles and places are there where an element is bad.

    ``unequal`` counts the elements that are not the same, ``nan_pairs`` bad ones that are NaN on both sides.
    """

    shape: tuple[int, ...]
    bad: int = 0
    unequal: int = 0
    nan_pairs: int = 0
    first: list[Element] = field(default_factory=list)
    absolute: Worst = field(default_factory=Worst)
    relative: Worst = field(default_factory=Worst)
    non_finite: NonFinite = field(default_factory=NonFinite)
    quantiles: Sequence[tuple[float, float]] = ()
    places: Sequence[str] = ()

    @property
    def numel(self) -> int:
        """How many elements there are."""
        return math.prod(self.shape)

    @property
    def max_abs(self) -> float:
        """The largest difference; NaN if that is not infinite and an element has none, 0 for no elements."""
        for name in ("inf", "nan"):
            if name in self.absolute.not_finite:
                return float(name)
        return self.absolute.value


def differences_of(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, equal_nan: bool = False
) -> Differences:
    """Compare two tensors of one shape on the CPU. Raises RuntimeError for dtypes torch cannot compare."""
    found = Differences(tuple(actual.shape))
    bad: list[tuple[int, torch.Tensor]] = []
    for part in parts(actual, expected):
        if are_same(part.actual, part.expected):
            continue
        wrong = wrong_elements(part.actual, part.expected, tolerance, equal_nan)
        _measure(found, part, wrong, equal_nan)
        if found.numel <= MOST_DESCRIBED and bool(wrong.any()):
            bad.append((part.start, wrong))
    if bad and found.numel > 1:
        _describe(found, actual, expected, bad, equal_nan)
    return found


def _measure(found: Differences, part: Part, wrong: torch.Tensor, equal_nan: bool) -> None:
    """Take a part into account."""
    absolute = absolute_differences(part.actual, part.expected, equal_nan)
    found.absolute.look(part.start, absolute)
    found.relative.look(part.start, _relative(absolute, magnitudes(part.expected)))
    found.non_finite.count(part)
    found.unequal += int(absolute.count_nonzero())
    found.first += first_elements(part, wrong, LISTED - len(found.first))
    found.bad += int(wrong.sum())
    both_nan = comparable(part.actual).isnan() & comparable(part.expected).isnan()
    found.nan_pairs += int((wrong & both_nan).sum())


def _relative(absolute: torch.Tensor, magnitude: torch.Tensor) -> torch.Tensor:
    """Quotients by what is expected: 0 where that is 0, infinite for an infinite difference."""
    magnitude = torch.where(magnitude.isinf() & absolute.isinf(), 1.0, magnitude)
    return torch.where((magnitude == 0) | (absolute == 0), 0.0, absolute / magnitude)


def _describe(
    found: Differences,
    actual: torch.Tensor,
    expected: torch.Tensor,
    bad: Sequence[tuple[int, torch.Tensor]],
    equal_nan: bool,
) -> None:
    """How large the differences are, and where the bad elements lie."""

    def absolute() -> Iterator[torch.Tensor]:
        for part in parts(actual, expected):
            yield absolute_differences(part.actual, part.expected, equal_nan).to(torch.float32)

    found.quantiles = quantiles_of(absolute)
    found.places = bad_places(_mask(found, bad))
    found.non_finite = NonFinite()  # parts that are equal have not been counted
    for part in parts(actual, expected):
        found.non_finite.count(part)


def _mask(found: Differences, bad: Sequence[tuple[int, torch.Tensor]]) -> torch.Tensor:
    mask = torch.zeros(found.numel, dtype=torch.bool)
    for start, wrong in bad:
        mask[start : start + wrong.numel()] = wrong
    return mask.reshape(found.shape)


def quantiles_of(metric: Metric) -> tuple[tuple[float, float], ...]:
    """Nearest-rank quantiles of the finite values, none where there are none."""
    found = nearest_quantiles(metric, QUANTILES)
    return () if math.isnan(found[0]) else tuple(zip(QUANTILES, found, strict=True))
