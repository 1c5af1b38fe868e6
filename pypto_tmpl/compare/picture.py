"""Pictures of how far a tensor is off: a map of binned errors, and how often each size of error occurs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

MOST_BINS = 96  # along each axis of a map; a longer axis may use what a shorter one leaves
LONGEST_AXIS = 384
MOST_BARS = 40
MOST_DECADES = 40  # of a histogram; what lies below is counted in its first bar
LEVELS = 250  # of finite errors above zero, on a logarithmic scale
NOT_FINITE = 255


@dataclass(frozen=True, slots=True)
class ErrorMap:
    """Errors of a tensor, seen as a matrix whose rows are all axes but the last, in bins.

    Each bin covers ``bin_rows`` x ``bin_columns`` cells; ``rows`` x ``columns`` bins are stored row by row.
    A byte of ``levels`` is 0 for no error, 255 where an error is not finite, else 1 to 250 for the largest
    error of the bin, from ``low`` (a tenth of ``high`` at most) to ``high`` on a logarithmic scale. A byte
    of ``bad`` is the share of bad cells from 0 to 255, 0 only for none; it is empty where no cell is bad.
    """

    shape: tuple[int, ...]
    rows: int
    columns: int
    bin_rows: int
    bin_columns: int
    low: float
    high: float
    levels: bytes
    bad: bytes


@dataclass(frozen=True, slots=True)
class ErrorHistogram:
    """Cells by the size of their finite errors above zero, on a logarithmic scale.

    Bar ``i`` counts errors from ``10 ** (first + i / per_decade)`` up to the next bar. Cells without any
    error, and cells whose error is not finite, are counted apart.
    """

    first: int
    per_decade: int
    good: tuple[int, ...]
    bad: tuple[int, ...]
    equal: int
    not_finite: int


@dataclass(frozen=True, slots=True)
class ErrorPicture:
    """What is drawn of the errors of one tensor."""

    map: ErrorMap
    histogram: ErrorHistogram


def error_picture(absolute: torch.Tensor, bad: torch.Tensor) -> ErrorPicture | None:
    """The picture of absolute differences in float64, NaN or infinite where they are; None for no cells."""
    if absolute.numel() == 0:
        return None
    return ErrorPicture(_map(absolute, bad), _histogram(absolute.flatten(), bad.flatten()))


def _map(absolute: torch.Tensor, bad: torch.Tensor) -> ErrorMap:
    width = absolute.shape[-1] if absolute.dim() else 1
    height = absolute.numel() // width
    bin_rows, bin_columns = _bin_extents(height, width)
    errors = absolute.reshape(height, width).nan_to_num(nan=math.inf, posinf=math.inf)
    largest = _binned(errors, bin_rows, bin_columns).amax((1, 3))
    above_zero = largest[(largest > 0) & largest.isfinite()]
    high = float(above_zero.max()) if above_zero.numel() else 0.0
    # Over less than a decade the colours would make much of small differences.
    low = min(float(above_zero.min()), high / 10) if above_zero.numel() else 0.0
    return ErrorMap(
        shape=tuple(absolute.shape),
        rows=largest.shape[0],
        columns=largest.shape[1],
        bin_rows=bin_rows,
        bin_columns=bin_columns,
        low=low,
        high=high,
        levels=_levels(largest, low, high),
        bad=_bad_shares(bad.reshape(height, width), bin_rows, bin_columns) if bool(bad.any()) else b"",
    )


def _bin_extents(height: int, width: int) -> tuple[int, int]:
    """Powers of two, so that bins fall in with tiles and lanes."""
    spare = [min(LONGEST_AXIS, MOST_BINS**2 // min(other, MOST_BINS)) for other in (width, height)]
    rows, columns = (
        1 << max(0, math.ceil(math.log2(e / m))) for e, m in zip((height, width), spare, strict=True)
    )
    return rows, columns


def _binned(matrix: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """The matrix as [bins, rows, bins, columns], filled up with zeros."""
    height, width = matrix.shape
    missing = (0, -width % columns, 0, -height % rows)
    padded = torch.nn.functional.pad(matrix, missing) if any(missing) else matrix
    return padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // columns, columns)


def _levels(largest: torch.Tensor, low: float, high: float) -> bytes:
    """Each value as a level of the map."""
    levels = torch.full_like(largest, LEVELS)
    if high > low:
        scaled = (largest / low).log() / math.log(high / low)
        levels = 1 + (scaled * (LEVELS - 1)).round().nan_to_num(neginf=0.0, posinf=0.0)
    levels[largest == 0] = 0
    levels[largest.isinf()] = NOT_FINITE
    return bytes(levels.to(torch.uint8).flatten().tolist())


def _bad_shares(bad: torch.Tensor, rows: int, columns: int) -> bytes:
    counts = _binned(bad, rows, columns).sum((1, 3)).to(torch.float64)
    heights, widths = (
        _extents(extent, size) for extent, size in zip(bad.shape, (rows, columns), strict=True)
    )
    shares = counts / (heights.unsqueeze(1) * widths)
    return bytes((shares * 255).ceil().to(torch.uint8).flatten().tolist())


def _extents(extent: int, size: int) -> torch.Tensor:
    """How many indices of an axis are in each bin: the last one may have fewer."""
    starts = torch.arange(0, extent, size, dtype=torch.float64)
    return (extent - starts).clamp(max=size)


def _histogram(absolute: torch.Tensor, bad: torch.Tensor) -> ErrorHistogram:
    measured = absolute.isfinite() & (absolute > 0)
    equal, not_finite = int((absolute == 0).sum()), int((~absolute.isfinite()).sum())
    if not bool(measured.any()):
        return ErrorHistogram(0, 1, (), (), equal, not_finite)
    exponents = absolute[measured].log10()
    last = math.floor(float(exponents.max())) + 1
    first = max(math.floor(float(exponents.min())), last - MOST_DECADES)
    per_decade = max(1, min(8, MOST_BARS // (last - first)))
    bars = (last - first) * per_decade
    position = ((exponents - first) * per_decade).floor().clamp(0, bars - 1).to(torch.int64)
    is_bad = bad[measured]
    good_counts, bad_counts = (
        tuple(torch.bincount(position[chosen], minlength=bars).tolist()) for chosen in (~is_bad, is_bad)
    )
    return ErrorHistogram(first, per_decade, good_counts, bad_counts, equal, not_finite)
