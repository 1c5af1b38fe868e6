"""The default rule: ``|actual - expected| <= atol + rtol * |expected|`` for every element."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from pypto_tmpl.golden.elements import (
    Element,
    NonFinite,
    Part,
    Worst,
    first_elements,
    parts,
    shape_difference,
)

SHOWN = 20  # mismatches that are listed


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
        if self.non_finite:
            yield f"not finite: {self.non_finite}"
        if self.is_exact_dtype and self.unequal and not self.bad:
            yield f"{self.unequal} of {self.numel} integers differ within the tolerance"


def compare_close(
    actual: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float, equal_nan: bool = False
) -> Closeness:
    """Compare two CPU tensors as ``torch.allclose`` does, for any dtypes and sizes.

    Tensors of different shapes or dtypes do not match. Equal infinities do; NaN matches NaN only with
    ``equal_nan``. Integers are compared exactly where ``torch.allclose`` would round or overflow.
    """
    found = Closeness(tuple(actual.shape), rtol, atol)
    found.difference = shape_difference(actual, expected)
    if found.difference is None and actual.dtype != expected.dtype:
        found.difference = f"dtype mismatch: actual {actual.dtype}, expected {expected.dtype}"
    if found.difference is not None:
        return found
    found.is_exact_dtype = not (actual.is_floating_point() or actual.is_complex())
    for part in parts(actual, expected):
        _compare_part(found, part, equal_nan)
    return found


def _compare_part(found: Closeness, part: Part, equal_nan: bool) -> None:
    if found.is_exact_dtype:
        equal = part.actual == part.expected
        diff, magnitude = _integer_difference(part, equal)
        close = equal | (diff <= found.atol + found.rtol * magnitude)
        found.unequal += int((~equal).sum())
    else:
        wide = part.as_float32() if part.actual.dtype.itemsize == 1 else part
        close = torch.isclose(wide.actual, wide.expected, found.rtol, found.atol, equal_nan)
        found.non_finite.count(wide)
        diff, magnitude = _float_difference(wide)
    found.max_abs.look(part.start, diff)
    found.max_rel.look(part.start, torch.where(magnitude == 0, 0.0, diff / magnitude))
    count = int((~close).sum())
    if count and len(found.shown) < SHOWN:
        found.shown += first_elements(part, ~close, SHOWN - len(found.shown))
    found.bad += count


def _integer_difference(part: Part, equal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Differences and magnitudes; integers that float64 does not tell apart are at least 1 apart."""
    a, e = part.actual.double(), part.expected.double()
    diff = torch.where(equal, 0.0, (a - e).abs().clamp(min=1.0))
    return diff, e.abs()


def _float_difference(part: Part) -> tuple[torch.Tensor, torch.Tensor]:
    """Differences and magnitudes, 0 where a side is not finite."""
    is_complex = part.actual.is_complex()
    dtype = torch.complex128 if is_complex else torch.float64
    a, e = part.actual.to(dtype), part.expected.to(dtype)
    finite = a.isfinite() & e.isfinite()
    return torch.where(finite, (a - e).abs(), 0.0), torch.where(finite, e.abs(), 0.0)
