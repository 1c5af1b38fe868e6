"""The default rule of the harness, and what the console and the error say of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from pypto_tmpl.compare.differences import Differences, differences_of
from pypto_tmpl.compare.elements import meta_difference, shape_difference
from pypto_tmpl.compare.packed import as_numbers
from pypto_tmpl.compare.tolerance import Tolerance


@dataclass(frozen=True, slots=True)
class Closeness:
    """How two tensors compare; ``difference`` says why they cannot be compared element by element."""

    rtol: float
    atol: float
    found: Differences
    difference: str | None = None
    is_exact_dtype: bool = False

    @property
    def passed(self) -> bool:
        return self.difference is None and self.found.bad == 0

    def message(self) -> str:
        """What is wrong, below the line that names the output."""
        if self.difference is not None:
            return f"    {self.difference}"
        found = self.found
        lines = [
            f"Mismatched elements: {found.bad}/{found.numel}  rtol={self.rtol} atol={self.atol}",
            f"first {len(found.first)} mismatches:",
            *(f"[{e.index}] actual={e.actual}, expected={e.expected}" for e in found.first),
        ]
        return "\n".join(f"    {line}" for line in lines)

    def measured(self) -> Iterator[str]:
        """How far off the output is, with the tolerances that were applied."""
        found, limits = self.found, f"rtol={self.rtol} atol={self.atol}"
        if self.difference is not None:
            yield f"not compared, {limits}"
            return
        share = f", {found.bad} of {found.numel} over it ({found.bad / found.numel:.4%})" if found.bad else ""
        yield (
            f"max abs diff={found.absolute.text(found.shape)}, "
            f"max rel diff={found.relative.text(found.shape)}; tolerance {limits}{share}"
        )
        if found.quantiles:
            values = (f"{share:.4g} {value:.3e}" for share, value in found.quantiles)
            yield f"abs diff quantiles: {', '.join(values)}"
        if found.non_finite:
            yield f"not finite: {found.non_finite}"
        yield from (f"where: {place}" for place in found.places)
        if self.is_exact_dtype and found.unequal and not found.bad:
            yield f"{found.unequal} of {found.numel} integers differ within the tolerance"


def compare_close(
    actual: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float, equal_nan: bool = False
) -> Closeness:
    """Compare on the CPU by the one rule; tensors of different shapes or dtypes do not match."""
    difference = meta_difference(actual, expected) or shape_difference(actual, expected)
    if difference is None and actual.dtype != expected.dtype:
        difference = f"dtype mismatch: actual {actual.dtype}, expected {expected.dtype}"
    if difference is not None:
        return Closeness(rtol, atol, Differences(tuple(actual.shape)), difference)
    actual, expected = as_numbers(actual), as_numbers(expected)
    found = differences_of(actual, expected, Tolerance(rtol, atol).of(actual.dtype), equal_nan)
    is_exact = not (actual.is_floating_point() or actual.is_complex())
    return Closeness(rtol, atol, found, is_exact_dtype=is_exact)
