"""The shape of a mismatch: how much, how often, where."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from pypto_tmpl.compare.differences import Differences
from pypto_tmpl.compare.elements import NonFinite, Worst, position
from pypto_tmpl.compare.places import percent
from pypto_tmpl.compare.rule import absolute_differences

Number = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its index, the value that was computed, the expected one, and how far they are apart."""

    index: tuple[int, ...]
    actual: Number
    expected: Number
    difference: float

    def __str__(self) -> str:
        values = f"got {number_text(self.actual)}, expected {number_text(self.expected)}"
        return f"{self.difference:.6e} at {list(self.index)}: {values}"


@dataclass(frozen=True, slots=True)
class ErrorShape:
    """What is known about the bad cells of one tensor; ``str()`` lays it out over several lines."""

    cells: int
    bad: int
    first: Cell
    largest: Cell | None  # none where nothing but NaN differs
    largest_relative: Cell | None  # none where no difference has a finite ratio to what is expected
    quantiles: Sequence[tuple[float, float]]
    places: Sequence[str]
    non_finite: NonFinite = field(default_factory=NonFinite)

    @property
    def share(self) -> float:
        """Bad cells as a part of all."""
        return self.bad / self.cells

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        yield f"bad cells: {self.bad} of {self.cells} ({percent(self.share)})"
        if self.largest is not None:
            yield f"max abs diff: {self.largest}"
        if self.largest_relative is not None:
            yield f"max rel diff: {self.largest_relative}"
        if self.largest is None or self.bad > 1:
            yield f"first bad cell: {self.first}"
        if self.largest is not None and self.quantiles and self.cells > 1:
            quantiles = (f"{share * 100:g} % {value:.3e}" for share, value in self.quantiles)
            yield f"abs diff quantiles: {', '.join(quantiles)}"
        if counts := self.non_finite:
            yield (
                f"NaN: {counts.actual_nan} got, {counts.expected_nan} expected; "
                f"inf: {counts.actual_inf} got, {counts.expected_inf} expected"
            )
        if self.cells > 1:
            yield from (f"where: {place}" for place in self.places)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def error_shape(found: Differences, actual: torch.Tensor, expected: torch.Tensor) -> ErrorShape:
    """Describe the bad cells of two tensors, of which there must be one."""

    def cell(at: int, difference: float) -> Cell:
        index = position(at, found.shape)
        return Cell(index, actual[index].item(), expected[index].item(), difference)

    def extreme(worst: Worst) -> Cell | None:
        return None if worst.index is None else cell(worst.index, worst.value)

    first = position(found.first[0].index, found.shape)
    infinite = found.absolute.not_finite.get("inf")
    return ErrorShape(
        cells=found.numel,
        bad=found.bad,
        first=cell(found.first[0].index, float(absolute_differences(actual[first], expected[first]))),
        largest=extreme(found.absolute) if infinite is None else cell(infinite, math.inf),
        largest_relative=extreme(found.relative),
        quantiles=found.quantiles,
        places=found.places,
        non_finite=found.non_finite,
    )


def number_text(value: Number) -> str:
    """A value with the digits that tell floats of 32 bits apart."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.9g}"
    return f"{text}.0" if text.lstrip("-").isdigit() else text
