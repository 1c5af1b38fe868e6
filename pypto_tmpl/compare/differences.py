"""Cell-wise differences of two tensors of one shape, by value, for any dtypes."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pypto_tmpl.compare.places import bad_places
from pypto_tmpl.compare.quantiles import nearest_quantiles
from pypto_tmpl.compare.shape import Cell, ErrorShape, NonFinite
from pypto_tmpl.compare.tolerance import Tolerance

QUANTILES = (0.5, 0.9, 0.99, 0.999)
EXACT_BELOW = 2.0**62  # smaller differences of 64-bit integers are computed as integers


def cell_differences(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, equal_nan: bool
) -> Differences:
    """Compare two tensors of one shape; equal infinities agree, a NaN agrees with a NaN or nothing."""
    is_inexact = any(t.is_floating_point() or t.is_complex() for t in (actual, expected))
    if is_inexact:
        return _inexact(actual, expected, tolerance, equal_nan)
    return _integers(actual, expected, tolerance)


@dataclass(frozen=True, slots=True)
class Differences:
    """What is known about every cell.

    ``absolute`` is NaN where a side is NaN, 0 where the sides are equal, infinite where one side is;
    ``relative`` is the finite ones of its quotients by what is expected, NaN elsewhere.
    """

    actual: torch.Tensor
    expected: torch.Tensor
    absolute: torch.Tensor
    relative: torch.Tensor
    bad: torch.Tensor

    @property
    def max_abs(self) -> float:
        """The largest difference; NaN if that is not infinite and a cell has none, 0 for no cells."""
        if self.absolute.numel() == 0:
            return 0.0
        position = _largest(self.absolute)
        largest = float("nan") if position is None else float(self.absolute.flatten()[position])
        return float("nan") if bool(self.absolute.isnan().any()) and largest != float("inf") else largest

    def only_nan_pairs(self) -> bool:
        """True when each bad cell is NaN on both sides."""
        return bool((wide(self.actual).isnan() & wide(self.expected).isnan())[self.bad].all())

    def shape(self) -> ErrorShape:
        """Describe the bad cells, of which there must be one."""
        flat_bad = self.bad.flatten()
        return ErrorShape(
            cells=flat_bad.numel(),
            bad=int(flat_bad.sum()),
            first=self._cell(int(flat_bad.nonzero()[0]), self.absolute),
            largest=self._extreme(self.absolute),
            largest_relative=self._extreme(self.relative),
            quantiles=quantiles_of(self.absolute),
            places=bad_places(self.bad),
            non_finite=self._non_finite(),
        )

    def _extreme(self, differences: torch.Tensor) -> Cell | None:
        position = _largest(differences)
        cell = None if position is None else self._cell(position, differences)
        return cell if cell is not None and cell.difference > 0 else None

    def _cell(self, position: int, differences: torch.Tensor) -> Cell:
        index = tuple(int(part) for part in torch.unravel_index(torch.tensor(position), self.bad.shape))
        return Cell(index, self.actual[index].item(), self.expected[index].item(), float(differences[index]))

    def _non_finite(self) -> NonFinite:
        actual, expected = wide(self.actual), wide(self.expected)
        sides = (actual.isnan(), expected.isnan(), actual.isinf(), expected.isinf())
        return NonFinite(*(int(side.sum()) for side in sides))


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """The values in the widest dtype of their kind; unsigned 64-bit integers wrap."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64 if tensor.is_floating_point() else torch.int64)


def _inexact(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, equal_nan: bool
) -> Differences:
    common = torch.complex128 if actual.is_complex() or expected.is_complex() else torch.float64
    left, right = actual.to(common), expected.to(common)
    equal = left == right
    both_nan = left.isnan() & right.isnan()
    absolute = (left - right).abs()
    # inf - inf and the complex infinities give NaN although no side is NaN
    absolute[~left.isnan() & ~right.isnan() & absolute.isnan()] = float("inf")
    absolute[equal] = 0.0
    near = absolute <= tolerance.atol + tolerance.rtol * right.abs()
    right_cells = equal | (near & left.isfinite() & right.isfinite())
    if equal_nan:
        right_cells |= both_nan
        absolute[both_nan] = 0.0
    return Differences(actual, expected, absolute, _relative(absolute, right.abs()), ~right_cells)


def _integers(actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> Differences:
    left, right = wide(actual), wide(expected)
    equal = left == right
    # A wrapped unsigned value equals no signed one.
    for one, other, wrapped in ((actual, expected, left), (expected, actual, right)):
        if one.dtype == torch.uint64 and other.dtype != torch.uint64:
            equal &= wrapped >= 0
    magnitude = expected.to(torch.float64).abs()
    rough = (actual.to(torch.float64) - expected.to(torch.float64)).abs()
    absolute = torch.where(rough < EXACT_BELOW, (left - right).abs().to(torch.float64), rough)
    absolute[equal] = 0.0
    near = absolute <= tolerance.atol + tolerance.rtol * magnitude
    exact = tolerance == Tolerance(0.0, 0.0)
    return Differences(
        actual, expected, absolute, _relative(absolute, magnitude), ~equal if exact else ~(equal | near)
    )


def _relative(absolute: torch.Tensor, magnitude: torch.Tensor) -> torch.Tensor:
    relative = absolute / magnitude
    relative[(magnitude == 0) | ~relative.isfinite()] = float("nan")
    return relative


def _largest(differences: torch.Tensor) -> int | None:
    """Flat position of the largest difference that is a number."""
    flat = differences.flatten().nan_to_num(nan=-1.0, posinf=float("inf"))
    position = int(flat.argmax())
    return None if flat[position] < 0 else position


def quantiles_of(differences: torch.Tensor) -> tuple[tuple[float, float], ...]:
    """Nearest-rank quantiles of the finite ones, none where there are none."""
    if not differences.isfinite().any():
        return ()
    found = nearest_quantiles(lambda: iter([differences.flatten().float()]), QUANTILES)
    return tuple(zip(QUANTILES, found, strict=True))
