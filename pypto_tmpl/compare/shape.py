"""The shape of a mismatch: how much, how often, where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pypto_tmpl.compare.places import percent

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
class NonFinite:
    """How many cells are NaN or infinite, on both sides."""

    actual_nan: int = 0
    expected_nan: int = 0
    actual_inf: int = 0
    expected_inf: int = 0

    def __str__(self) -> str:
        return (
            f"NaN: {self.actual_nan} got, {self.expected_nan} expected; "
            f"inf: {self.actual_inf} got, {self.expected_inf} expected"
        )

    def __bool__(self) -> bool:
        return any((self.actual_nan, self.expected_nan, self.actual_inf, self.expected_inf))


@dataclass(frozen=True, slots=True)
class ErrorShape:
    """What is known about the bad cells of one tensor; ``str()`` lays it out over several lines."""

    cells: int
    bad: int
    first: Cell
    largest: Cell | None  # none where nothing but NaN differs
    largest_relative: Cell | None  # none where no difference has a finite ratio to what is expected
    quantiles: tuple[tuple[float, float], ...]
    places: tuple[str, ...]
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
        if self.non_finite:
            yield str(self.non_finite)
        if self.cells > 1:
            yield from (f"where: {place}" for place in self.places)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def number_text(value: Number) -> str:
    """A value with the digits that tell floats of 32 bits apart."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.9g}"
    return f"{text}.0" if text.lstrip("-").isdigit() else text
