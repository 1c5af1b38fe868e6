"""The default rule: ``|actual - expected| <= atol + rtol * |expected|`` for every element.

An integer may be off by ``atol`` only, a bool not at all: ``rtol`` is meant for what rounds, and would let a
wrong index pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from pypto_tmpl.compare.quantiles import nearest_quantiles
from pypto_tmpl.golden.elements import (
    Element,
    NonFinite,
    Part,
    Worst,
    first_elements,
    meta_difference,
    parts,
    shape_difference,
)

SHOWN = 20  # mismatches that are listed
QUANTILES = (0.5, 0.9, 0.99, 0.999)
MOST_DESCRIBED = 1 << 24  # elements of which it is told where the bad ones lie


@dataclass(slots=True)
class Closeness:
    """How two tensors compare; ``difference`` says why they cannot be compared element by element."""

    shape: tuple[int, ...]
    rtol: float
    atol: float
    difference: str | None = None
    bad: int = 0
    unequal: int = 0
    is_exact_dtype: bool = False
    shown: list[Element] = field(default_factory=list)
    max_abs: Worst = field(default_factory=Worst)
    max_rel: Worst = field(default_factory=Worst)
    non_finite: NonFinite = field(default_factory=NonFinite)
    quantiles: Sequence[float] = ()
    places: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return self.difference is None and self.bad == 0

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def message(self) -> str:
        """What is wrong, below the line that names the output."""
        if self.difference is not None:
            return f"    {self.difference}"
        lines = [
            f"Mismatched elements: {self.bad}/{self.numel}  rtol={self.rtol} atol={self.atol}",
            f"first {len(self.shown)} mismatches:",
            *(f"[{e.index}] actual={e.actual}, expected={e.expected}" for e in self.shown),
        ]
        return "\n".join(f"    {line}" for line in lines)

    def measured(self) -> Iterator[str]:
        """How far off the output is, with the tolerances that were applied."""
        limits = f"rtol={self.rtol} atol={self.atol}"
        if self.difference is not None:
            yield f"not compared, {limits}"
            return
        share = f", {self.bad} of {self.numel} over it ({self.bad / self.numel:.4%})" if self.bad else ""
        yield (
            f"max abs diff={self.max_abs.text(self.shape)}, max rel diff={self.max_rel.text(self.shape)}; "
            f"tolerance {limits}{share}"
        )
        if self.quantiles:
            values = zip(QUANTILES, self.quantiles, strict=True)
            yield f"abs diff quantiles: {', '.join(f'{share:.4g} {value:.3e}' for share, value in values)}"
        if self.non_finite:
            yield f"not finite: {self.non_finite}"
        yield from (f"where: {place}" for place in self.places)
        if self.is_exact_dtype and self.unequal and not self.bad:
            yield f"{self.unequal} of {self.numel} integers differ within the tolerance"


def compare_close(
    actual: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float, equal_nan: bool = False
) -> Closeness:
    """Compare floats on the CPU as ``torch.allclose`` does, integers by ``atol`` alone, bools exactly.

    Tensors of different shapes or dtypes do not match. Equal infinities do; NaN matches NaN only with
    ``equal_nan``.
    """
    found = Closeness(tuple(actual.shape), rtol, atol)
    found.difference = meta_difference(actual, expected) or shape_difference(actual, expected)
    if found.difference is None and actual.dtype != expected.dtype:
        found.difference = f"dtype mismatch: actual {actual.dtype}, expected {expected.dtype}"
    if found.difference is not None:
        return found
    found.is_exact_dtype = not (actual.is_floating_point() or actual.is_complex())
    is_described = 1 < found.numel <= MOST_DESCRIBED
    bad: list[tuple[int, torch.Tensor]] = []
    for part in parts(actual, expected):
        chosen = _compare_part(found, part, equal_nan)
        if chosen is not None and is_described:
            bad.append((part.start, chosen))
    if bad:
        _describe(found, actual, expected, bad)
    return found


def _describe(
    found: Closeness,
    actual: torch.Tensor,
    expected: torch.Tensor,
    bad: Sequence[tuple[int, torch.Tensor]],
) -> None:
    """How large the differences are, and where the bad elements lie."""
    from pypto_tmpl.compare.places import bad_places  # with the package the code generator comes

    found.quantiles = nearest_quantiles(lambda: _differences(actual, expected), QUANTILES)
    mask = torch.zeros(found.numel, dtype=torch.bool)
    for start, chosen in bad:
        mask[start : start + chosen.numel()] = chosen
    found.places = bad_places(mask.reshape(found.shape))


def _differences(actual: torch.Tensor, expected: torch.Tensor) -> Iterator[torch.Tensor]:
    for part in parts(actual, expected):
        a, e = (t if t.is_complex() else t.to(torch.float64) for t in (part.actual, part.expected))
        yield (a - e).abs().to(torch.float32)


def _compare_part(found: Closeness, part: Part, equal_nan: bool) -> torch.Tensor | None:
    """Take a part into account; which of its elements are bad, None if none is."""
    if _is_equal(part):
        return None
    if found.is_exact_dtype:
        equal = part.actual == part.expected
        diff, magnitude = _integer_difference(part, equal)
        close = equal if part.actual.dtype is torch.bool else equal | (diff <= found.atol)
        found.unequal += int((~equal).sum())
    else:
        wide = part.as_float32() if part.actual.dtype.itemsize == 1 else part
        close = torch.isclose(wide.actual, wide.expected, found.rtol, found.atol, equal_nan)
        found.non_finite.count(wide)
        diff, magnitude = _float_difference(wide, equal_nan)
    found.max_abs.look(part.start, diff)
    found.max_rel.look(part.start, torch.where((magnitude == 0) | (diff == 0), 0.0, diff / magnitude))
    count = int((~close).sum())
    if count and len(found.shown) < SHOWN:
        found.shown += first_elements(part, ~close, SHOWN - len(found.shown))
    found.bad += count
    return ~close if count else None


def _is_equal(part: Part) -> bool:
    """True where there is nothing to measure; 8-bit floats have no comparison of their own."""
    has_none = part.actual.is_floating_point() and part.actual.dtype.itemsize == 1
    return not has_none and torch.equal(part.actual, part.expected)


def _integer_difference(part: Part, equal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Differences and magnitudes; integers that float64 does not tell apart are at least 1 apart."""
    a, e = part.actual.double(), part.expected.double()
    diff = torch.where(equal, 0.0, (a - e).abs().clamp(min=1.0))
    return diff, e.abs()


def _float_difference(part: Part, equal_nan: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Differences and magnitudes: NaN where a side is NaN, infinite where one is, 0 where both agree."""
    dtype = torch.promote_types(part.actual.dtype, torch.float32)
    a, e = part.actual.to(dtype), part.expected.to(dtype)
    equal = a == e
    if equal_nan:
        equal |= a.isnan() & e.isnan()
    diff = torch.where(equal, 0.0, (a - e).abs())
    diff[~equal & diff.isnan() & ~a.isnan() & ~e.isnan()] = math.inf  # of complex infinities
    magnitude = e.abs()
    return diff, torch.where(magnitude.isinf() & diff.isinf(), 1.0, magnitude)
