"""Where bad cells lie: rows, columns, periods, blocks. The pattern is often the diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, prod

import torch

LISTED_INDICES = 4  # more indices than this are told as a range or a period
LISTED_BLOCKS = 6
BLOCK_EXTENTS = (256, 128, 64, 32, 16, 8)
MOST_PERIODS = 64  # tried for one axis


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a mask and the indices at which any cell is bad, in ascending order."""

    one: str
    many: str
    extent: int
    hits: Sequence[int]


@dataclass(frozen=True, slots=True)
class AxisPattern:
    """Indices of one axis outside of which no cell is bad; ``covered`` is how many they are."""

    text: str
    covered: int
    hint: str = ""


def bad_places(bad: torch.Tensor) -> tuple[str, ...]:
    """Lines that say where the true cells of a mask lie; none for a mask without any."""
    count = int(bad.sum())
    if count == 0:
        return ()
    if count == bad.numel():
        return ("every cell is bad",) if count > 1 else ("the only cell is bad",)
    patterns = [_axis_pattern(_axis(bad, dim)) for dim in range(bad.dim())]
    covered = prod(p.covered if p else extent for p, extent in zip(patterns, bad.shape, strict=True))
    found = [pattern for pattern in patterns if pattern is not None]
    share = count / covered
    finer = (_triangle(bad) or _blocks(bad, share)) if share < 0.95 and bad.dim() >= 2 else []
    lines = [_product_line(found, share)] if found else []
    lines += finer or [pattern.hint for pattern in found if pattern.hint]
    return tuple(lines) or (f"scattered over the whole tensor: {percent(share)} of its cells",)


def percent(share: float) -> str:
    """A share for people: 0 % and 100 % only where it is exactly that."""
    if share in (0.0, 1.0):
        return f"{share * 100:.0f} %"
    return f"{min(max(share * 100, 0.01), 99.99):.4g} %"


def _axis(bad: torch.Tensor, dim: int) -> Axis:
    others = [other for other in range(bad.dim()) if other != dim]
    hit = bad.any(dim=others) if others else bad
    one, many = _axis_name(dim, bad.dim())
    return Axis(one, many, bad.shape[dim], [int(index) for index in hit.nonzero().flatten()])


def _axis_name(dim: int, rank: int) -> tuple[str, str]:
    if rank == 1:
        return "cell", "cells"
    if dim >= rank - 2:
        return ("row", "rows") if dim == rank - 2 else ("column", "columns")
    return f"dim {dim} index", f"dim {dim} indices"


def _product_line(patterns: Sequence[AxisPattern], share: float) -> str:
    where = "all in " + ", ".join(pattern.text for pattern in patterns)
    return where if share == 1.0 else f"{where}: {percent(share)} of the cells there"


def _axis_pattern(axis: Axis) -> AxisPattern | None:
    """The tightest of a range, a period and a short list; None where the axis says nothing."""
    choices = [_range(axis), *_periods(axis)]
    best = min(choices, key=lambda pattern: pattern.covered)
    if len(axis.hits) <= LISTED_INDICES and best.covered > len(axis.hits):
        listed = ", ".join(map(str, axis.hits))
        return AxisPattern(f"{axis.many} {listed}", len(axis.hits))
    # A few spared indices at the edges of a scatter are no pattern; a hole-free rest is one.
    if best.covered > axis.extent * 3 // 4 and len(axis.hits) < best.covered:
        return None
    return None if best.covered == axis.extent else best


def _range(axis: Axis) -> AxisPattern:
    first, last = axis.hits[0], axis.hits[-1]
    covered = last - first + 1
    if covered == 1:
        return AxisPattern(f"{axis.one} {first}", 1)
    hint = _lane_hint(axis, first, last, axis.extent)
    if not hint and last == axis.extent - 1 and 0 < covered < axis.extent / 2:
        hint = f"the last {covered} {axis.many}: a tail, or a wrong valid extent"
    return AxisPattern(f"{axis.many} {first}-{last}", covered, hint)


def _lane_hint(axis: Axis, first: int, last: int, period: int) -> str:
    if period < 2 or period % 2:
        return ""
    if (first, last) == (period // 2, period - 1):
        return f"the second half: what lane 1 of a split by {axis.many} computes"
    if (first, last) == (0, period // 2 - 1):
        return f"the first half: what lane 0 of a split by {axis.many} computes"
    return ""


def _periods(axis: Axis) -> Iterator[AxisPattern]:
    for period in _period_candidates(axis):
        folded = {index % period for index in axis.hits}
        first, last = min(folded), max(folded)
        occupied = len({index // period for index in axis.hits})
        # Any two runs have some distance; only one that is a power of two tells something.
        if last - first + 1 == period or occupied < (2 if period.bit_count() == 1 else 3):
            continue
        whole, rest = divmod(axis.extent, period)
        covered = whole * (last - first + 1) + max(0, min(rest, last + 1) - first)
        if first == last:
            yield AxisPattern(f"every {_ordinal(period)} {axis.one} from {first} on", covered)
        else:
            hint = _lane_hint(axis, first, last, period)
            yield AxisPattern(f"{axis.many} {first}-{last} of each {period}", covered, hint)


def _period_candidates(axis: Axis) -> list[int]:
    """Distances between the starts of runs, their divisor, and the powers of two, small ones first."""
    starts = [b for a, b in pairwise([-2, *axis.hits]) if b != a + 1]
    steps = {b - a for a, b in pairwise(starts)}
    found = {*sorted(steps)[:MOST_PERIODS], gcd(*steps)} if steps else set()
    found |= {2**power for power in range(1, axis.extent.bit_length())}
    return sorted(period for period in found if 2 <= period <= axis.extent // 2)


def _ordinal(number: int) -> str:
    if number % 100 not in (11, 12, 13) and number % 10 in (1, 2, 3):
        return f"{number}{('st', 'nd', 'rd')[number % 10 - 1]}"
    return f"{number}th"


def _triangle(bad: torch.Tensor) -> list[str]:
    """The side of the diagonal of the last two axes that holds all bad cells, nearly filled by them."""
    rows = torch.arange(bad.shape[-2]).unsqueeze(1)
    columns = torch.arange(bad.shape[-1])
    hit = bad.flatten(0, -3).any(0) if bad.dim() > 2 else bad
    sides = {
        "above": columns > rows,
        "on and above": columns >= rows,
        "below": columns < rows,
        "on and below": columns <= rows,
    }
    for name, side in sides.items():
        cells = int(side.sum())
        if cells > 1 and not bool((hit & ~side).any()) and int(hit.sum()) >= 0.9 * cells:
            return [f"the bad cells are those {name} the diagonal"]
    return []


def _blocks(bad: torch.Tensor, share: float) -> list[str]:
    """Blocks of the two axes that hold the bad cells: the largest that are full of them, else the fullest."""
    if bad.dim() > 2:
        return []
    height, width = bad.shape
    steps = [8 if extent % 8 == 0 else 1 for extent in bad.shape]
    fine = _sums(bad, steps[0], steps[1])  # coarser sums are sums of these
    best, line = max(0.5, 1.2 * share), ""
    for rows in _block_extents(height):
        for columns in _block_extents(width):
            grid = _sums(fine, rows // steps[0], columns // steps[1])
            hit = grid.nonzero()
            density = int(grid.sum()) / (len(hit) * rows * columns)
            if len(hit) * 2 <= grid.numel() and density > best:
                best, line = density, _blocks_line(hit.tolist(), grid.numel(), (rows, columns), density)
            if line and best > 0.95:
                return [line]
    return [line] if line else []


def _block_extents(extent: int) -> list[int]:
    return [extent, *(size for size in BLOCK_EXTENTS if size < extent and extent % size == 0)]


def _sums(counts: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Sums over blocks of a matrix."""
    height, width = counts.shape
    return counts.reshape(height // rows, rows, width // columns, columns).sum((1, 3))


def _blocks_line(hit: Sequence[Sequence[int]], total: int, size: tuple[int, int], density: float) -> str:
    rows, columns = size
    corners = [f"[{row * rows}, {column * columns}]" for row, column in hit[:LISTED_BLOCKS]]
    more = f" and {len(hit) - LISTED_BLOCKS} more" if len(hit) > LISTED_BLOCKS else ""
    where = f"all in {len(hit)} of the {total} blocks of {rows} x {columns}, at {', '.join(corners)}{more}"
    return where if density == 1.0 else f"{where}: {percent(density)} of the cells there"
