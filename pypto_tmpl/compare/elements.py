"""Walking two tensors of one shape a part at a time, so that comparing huge ones needs little memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl.compare.rule import comparable
from pypto_tmpl.execution.threads import torch_threads

PART = 1 << 18  # elements a part


@dataclass(frozen=True, slots=True)
class Part:
    """Elements ``start`` and following of both tensors, flat, in row-major order."""

    start: int
    actual: torch.Tensor
    expected: torch.Tensor

    def as_float32(self) -> Part:
        """The part with both sides in float32."""
        return Part(self.start, self.actual.to(torch.float32), self.expected.to(torch.float32))


def parts(actual: torch.Tensor, expected: torch.Tensor) -> Iterator[Part]:
    """The elements of two tensors of one shape, in parts of about a quarter million.

    While they are walked torch has one thread: more of them cost more than they bring to parts of this size,
    and many times as much where other processes want the cores too.
    """
    start = 0
    with torch_threads(1):
        for one, other in _pieces(actual, expected):
            yield Part(start, one, other)
            start += one.numel()


def _pieces(one: torch.Tensor, other: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    size = one.numel()
    if one.is_contiguous() and other.is_contiguous():
        yield from zip(*(torch.split(t.view(-1), PART) for t in (one, other)), strict=True)
    elif size <= PART:
        yield one.reshape(-1), other.reshape(-1)
    elif size // one.shape[0] > PART:
        for rows in zip(one, other, strict=True):
            yield from _pieces(*rows)
    else:
        rows_a_part = PART // (size // one.shape[0])
        for rows in zip(*(torch.split(t, rows_a_part) for t in (one, other)), strict=True):
            yield rows[0].reshape(-1), rows[1].reshape(-1)


@dataclass(slots=True)
class NonFinite:
    """Counts of NaN and infinite elements on both sides."""

    actual_nan: int = 0
    actual_inf: int = 0
    expected_nan: int = 0
    expected_inf: int = 0

    def count(self, part: Part) -> None:
        """Add the elements of a part."""
        actual, expected = comparable(part.actual), comparable(part.expected)
        self.actual_nan += int(actual.isnan().sum())
        self.actual_inf += int(actual.isinf().sum())
        self.expected_nan += int(expected.isnan().sum())
        self.expected_inf += int(expected.isinf().sum())

    def __bool__(self) -> bool:
        return any((self.actual_nan, self.actual_inf, self.expected_nan, self.expected_inf))

    def __str__(self) -> str:
        return (
            f"actual: NaN={self.actual_nan} Inf={self.actual_inf}; "
            f"expected: NaN={self.expected_nan} Inf={self.expected_inf}"
        )


@dataclass(frozen=True, slots=True)
class Element:
    """One element: its flat index and both values."""

    index: int
    actual: Any
    expected: Any


class Worst:
    """The largest number of the values it is shown, and the first NaN and infinity, with flat indices."""

    def __init__(self) -> None:
        self.value = 0.0
        self.index: int | None = None
        self.not_finite: dict[str, int] = {}

    def look(self, start: int, values: torch.Tensor) -> None:
        """Look at the values of a part."""
        if values.numel() == 0:
            return
        for name, chosen in (("nan", values.isnan()), ("inf", values.isinf())):
            if name not in self.not_finite and bool(chosen.any()):
                self.not_finite[name] = start + int(chosen.nonzero()[0])
        position = int(torch.where(values.isfinite(), values, -1.0).argmax())
        value = float(values[position])
        if math.isfinite(value) and value > self.value:
            self.value, self.index = value, start + position

    def text(self, shape: Sequence[int]) -> str:
        """``1.000e-02 at [3, 4]``; with ``nan`` or ``inf`` before it, where there are such values."""
        where = "" if self.index is None else f" at {list(position(self.index, shape))}"
        number = f"{self.value:.3e}{where}"
        found = [
            f"{name} at {list(position(at, shape))}" for name, at in sorted(self.not_finite.items())[::-1]
        ]
        return f"{', '.join(found)} (else {number})" if found else number


def position(index: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index along every dimension of a flat index."""
    found = []
    for extent in reversed(shape):
        index, rest = divmod(index, extent)
        found.append(rest)
    return tuple(reversed(found))


def first_elements(part: Part, chosen: torch.Tensor, limit: int) -> Iterator[Element]:
    """The first chosen elements of a part."""
    for at in chosen.nonzero().flatten()[: max(limit, 0)].tolist():
        yield Element(part.start + at, part.actual[at].item(), part.expected[at].item())


def shape_difference(actual: torch.Tensor, expected: torch.Tensor) -> str | None:
    """How the shapes differ, shapes that would broadcast included, or None."""
    if actual.shape == expected.shape:
        return None
    return f"shape mismatch: actual {tuple(actual.shape)}, expected {tuple(expected.shape)}"


def meta_difference(actual: torch.Tensor, expected: torch.Tensor) -> str | None:
    """Why tensors cannot be compared of which one holds no values, or None."""
    sides = [side for side, tensor in (("actual", actual), ("expected", expected)) if tensor.is_meta]
    return f"{' and '.join(sides)} on the meta device: no values to compare" if sides else None
