"""Whether two recorded values are the same, also where a pass has reshaped, split or tiled one of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from pypto_tmpl.compare import tolerance
from pypto_tmpl.compare.rule import absolute_differences, wrong_elements
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.debug.trace.records import Value

_COARSE = (torch.bfloat16, torch.float16)
_PADDING = 1e29  # values like -3e38 stand for none, and say nothing about the size of others
_MAX_PLACES = 64  # parts of a value that are tried


@dataclass(frozen=True, slots=True)
class Closeness:
    """How far equal values may be apart; integers and bools are exact.

    Passes reorder sums, so that floats agree up to rounding: ``rtol`` of the value and ``atol`` of the
    largest value in the tensor; 16-bit floats up to ``coarse``.
    """

    rtol: float = 1e-4
    atol: float = 1e-5
    coarse: float = 8e-3


EXACT = Closeness(0.0, 0.0, 0.0)
ROUNDED = Closeness()


@dataclass(slots=True)
class Comparable:
    """A value in the form in which values are compared: numbers and tensors alike are tensors."""

    tensor: torch.Tensor
    _key: tuple[int, bytes] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, value: Value) -> Comparable:
        """The value of a record; of packed FP4 the bytes, since torch converts it to nothing."""
        tensor = value.detach().cpu() if isinstance(value, torch.Tensor) else torch.tensor(value)
        return cls(tensor.view(torch.uint8) if tensor.dtype == torch.float4_e2m1fn_x2 else tensor)

    def key(self) -> tuple[int, bytes]:
        """Equal for values of the same cells in the same order."""
        if self._key is None:
            flat = self.tensor.contiguous().reshape(-1)
            numbers = flat.to(torch.float64) if flat.dtype.is_floating_point else flat
            self._key = (flat.numel(), numbers.numpy().tobytes())
        return self._key


def same(left: Comparable, right: Comparable, closeness: Closeness = ROUNDED) -> bool:
    """Whether two values have the same cells in the same order, whatever their shapes."""
    one, other = left.tensor, right.tensor
    if one.numel() != other.numel():
        return False
    if left.key() == right.key():
        return True
    return bool(_agree(one.reshape(-1), other.reshape(-1), closeness).all())


def _agree(one: torch.Tensor, other: torch.Tensor, closeness: Closeness) -> torch.Tensor:
    """Cell by cell, whether two tensors of one shape agree."""
    a, b = one.to(torch.float64), other.to(torch.float64)
    inexact = one.dtype.is_floating_point and other.dtype.is_floating_point
    if not inexact or closeness == EXACT:
        return ~wrong_elements(a, b, tolerance.EXACT, equal_nan=True)
    usual = b.abs()[b.abs() < _PADDING]
    largest = float(usual.max()) if usual.numel() else 0.0
    coarse = one.dtype in _COARSE or other.dtype in _COARSE
    limits = Tolerance(closeness.coarse if coarse else closeness.rtol, closeness.atol * largest)
    return ~wrong_elements(a, b, limits, equal_nan=True)


def part_of(
    part: Comparable,
    whole: Comparable,
    closeness: Closeness = ROUNDED,
    besides: tuple[int, ...] | None = None,
) -> tuple[int, ...] | None:
    """The offsets at which ``part`` stands in ``whole``, other than ``besides``; None if it does not.

    Offsets that are multiples of the part's extents are tried, and its place at the end of an axis. A part
    of lower rank, as of a batch, lies on the trailing axes.
    """
    small, large = part.tensor, whole.tensor
    if 1 < small.dim() < large.dim():
        small = small[(None,) * (large.dim() - small.dim())]
    if small.dim() != large.dim() or not small.dim() or not small.numel():
        return None
    if any(a > b for a, b in zip(small.shape, large.shape, strict=True)):
        return None
    for offsets in _places(small, large, closeness):
        if offsets == besides:
            continue
        window = large[tuple(slice(o, o + n) for o, n in zip(offsets, small.shape, strict=True))]
        if bool(_agree(small, window, closeness).all()):
            return offsets
    return None


def _places(small: torch.Tensor, large: torch.Tensor, closeness: Closeness) -> Iterator[tuple[int, ...]]:
    """Offsets at which the first and the last cell of ``small`` may stand."""
    steps = [
        torch.tensor(sorted({*range(0, n_large - n_small + 1, n_small), n_large - n_small}))
        for n_small, n_large in zip(small.shape, large.shape, strict=True)
    ]
    grid = torch.meshgrid(*steps, indexing="ij")
    ends = tuple(axis + extent - 1 for axis, extent in zip(grid, small.shape, strict=True))
    first, last = small.reshape(-1)[0], small.reshape(-1)[-1]
    likely = _near(large[grid], first, large, closeness) & _near(large[ends], last, large, closeness)
    for found in torch.nonzero(likely)[:_MAX_PLACES].tolist():
        yield tuple(int(step[i]) for step, i in zip(steps, found, strict=True))


def _near(cells: torch.Tensor, cell: torch.Tensor, whole: torch.Tensor, closeness: Closeness) -> torch.Tensor:
    """Which cells may agree with one; not less than those that do."""
    numbers = cells.to(torch.float64)
    slack = (closeness.atol + max(closeness.rtol, closeness.coarse)) * float(
        whole.to(torch.float64).abs().max()
    )
    if not math.isfinite(slack):
        return torch.ones_like(cells, dtype=torch.bool)
    return ((numbers - cell.to(torch.float64)).abs() <= slack) | (numbers == cell) | bool(cell.isnan())


def worst_cell(one: Comparable, other: Comparable) -> tuple[int, ...] | None:
    """The cell in which two values of one shape differ most, None for values of different shapes."""
    a, b = one.tensor, other.tensor
    if a.shape != b.shape or not a.numel():
        return None
    gap = absolute_differences(a.to(torch.float64), b.to(torch.float64), equal_nan=True)
    flat = int(gap.nan_to_num(nan=torch.inf, posinf=torch.inf).reshape(-1).argmax())
    return tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), a.shape)) if a.dim() else ()
