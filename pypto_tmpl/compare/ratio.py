"""Comparators that let a share of the elements be off: ``ratio_allclose`` and ``ratio_reldiff``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

from pypto_tmpl.compare.elements import (
    Element,
    NonFinite,
    Worst,
    first_elements,
    parts,
    position,
    shape_difference,
)
from pypto_tmpl.compare.verdicts import Comparator, Verdict

# From both sides in float32: what each element is judged by, and which are bad.
_Rule: TypeAlias = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

_SMALLEST = 1 / 16384  # relative differences are not taken of magnitudes below this / diff_thd


def ratio_allclose(
    atol: float | None = None,
    rtol: float | None = None,
    max_error_ratio: float = 0.005,
    max_show: int = 10,
    valid_rows: int | None = None,
    valid_axis: int = 0,
    zero_tail: bool = False,
) -> Comparator:
    """Passes when at most that share of the elements has ``|a - e| > atol + rtol * |e|``, in float32.

    Tolerances of None are those of the run. ``valid_rows`` compares the first entries along ``valid_axis``
    only; with ``zero_tail`` the rest of the output must be zeros. NaN and infinities fail.
    Raises ValueError for a ratio outside [0, 1].
    """
    _check_share("max_error_ratio", max_error_ratio)
    prefix = Prefix(valid_rows, valid_axis, zero_tail)

    def compare(actual: torch.Tensor, expected: torch.Tensor, **context: Any) -> Verdict:
        limits = (context["atol"] if atol is None else atol, context["rtol"] if rtol is None else rtol)
        tally = prefix.tally(actual, expected, lambda a, e: _over(a, e, *limits), max_show)
        if isinstance(tally, tuple):
            return tally
        lines = [
            f"{tally.bad_text(max_error_ratio)}  atol={limits[0]} rtol={limits[1]}",
            f"max abs diff={tally.worst.text(tally.shape)}",
        ]
        return tally.verdict(tally.bad <= tally.allowed(max_error_ratio), lines)

    compare.__name__ = (
        f"ratio_allclose(atol={atol}, rtol={rtol}, max_error_ratio={max_error_ratio}, {prefix})"
    )
    return compare


def ratio_reldiff(
    diff_thd: float = 0.01,
    pct_thd: float = 0.05,
    max_diff_hd: float = math.inf,
    max_show: int = 10,
    valid_rows: int | None = None,
    valid_axis: int = 0,
    zero_tail: bool = False,
) -> Comparator:
    """Passes when at most a share ``pct_thd`` differs by more than ``diff_thd``, none by ``max_diff_hd``.

    An element's difference is ``d = |a - e|`` when that is below ``diff_thd``, else
    ``d / (max(|a|, |e|, 1 / 16384 / diff_thd) + 1e-9)``, in float32. ``valid_rows``, ``valid_axis`` and
    ``zero_tail`` as for ``ratio_allclose``; NaN and infinities fail.
    Raises ValueError for thresholds that are not positive and a share outside [0, 1].
    """
    _check_share("pct_thd", pct_thd)
    _check_positive(diff_thd=diff_thd, max_diff_hd=max_diff_hd)
    prefix = Prefix(valid_rows, valid_axis, zero_tail)

    def compare(actual: torch.Tensor, expected: torch.Tensor, **context: Any) -> Verdict:
        tally = prefix.tally(actual, expected, lambda a, e: _apart(a, e, diff_thd), max_show)
        if isinstance(tally, tuple):
            return tally
        worst_bad = tally.worst.value if tally.bad else 0.0  # a bad element is above any good one
        lines = [
            f"{tally.bad_text(pct_thd)}  diff_thd={diff_thd} max_diff_hd={max_diff_hd}",
            f"max rel diff={tally.worst.text(tally.shape)}",
        ]
        return tally.verdict(tally.bad <= tally.allowed(pct_thd) and worst_bad < max_diff_hd, lines)

    compare.__name__ = (
        f"ratio_reldiff(diff_thd={diff_thd}, pct_thd={pct_thd}, max_diff_hd={max_diff_hd}, {prefix})"
    )
    return compare


def _over(a: torch.Tensor, e: torch.Tensor, atol: float, rtol: float) -> tuple[torch.Tensor, torch.Tensor]:
    diff = (a - e).abs()
    return diff, diff > atol + rtol * e.abs()


def _apart(a: torch.Tensor, e: torch.Tensor, diff_thd: float) -> tuple[torch.Tensor, torch.Tensor]:
    diff = relative_difference(a, e, diff_thd)
    return diff, diff > diff_thd


def relative_difference(a: torch.Tensor, e: torch.Tensor, diff_thd: float) -> torch.Tensor:
    """The difference that ``ratio_reldiff`` judges elements by."""
    diff = (a - e).abs()
    magnitude = torch.maximum(a.abs(), e.abs()).clamp(min=_SMALLEST / diff_thd) + 1e-9
    return torch.where(diff < diff_thd, diff, diff / magnitude)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be > 0, got {value}")


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value}")


@dataclass(slots=True)
class Tally:
    """What a comparison of all elements came to."""

    shape: tuple[int, ...]
    bad: int = 0
    worst: Worst = field(default_factory=Worst)
    shown: list[Element] = field(default_factory=list)
    non_finite: NonFinite = field(default_factory=NonFinite)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def allowed(self, share: float) -> int:
        """How many elements may be bad."""
        return round(share * self.numel)

    def bad_text(self, share: float) -> str:
        """Count and share of the bad elements, and what is allowed."""
        return (
            f"bad elements: {self.bad}/{self.numel} ({self.bad / self.numel:.4%}), "
            f"allowed {share:.4%} = {self.allowed(share)}"
        )

    def verdict(self, passed: bool, text: Sequence[str]) -> Verdict:
        """The verdict, with what is wrong laid out below the output's line."""
        if passed:
            return True, ""
        lines = [*text, f"first {len(self.shown)} bad:"]
        lines += [
            f"{list(position(e.index, self.shape))} actual={e.actual}, expected={e.expected}"
            for e in self.shown
        ]
        return False, "\n".join(f"    {line}" for line in lines)


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first entries along an axis, and whether the rest must be zeros."""

    valid_rows: int | None
    valid_axis: int
    zero_tail: bool

    def __str__(self) -> str:
        return f"valid_rows={self.valid_rows}, valid_axis={self.valid_axis}, zero_tail={self.zero_tail}"

    def tally(
        self, actual: torch.Tensor, expected: torch.Tensor, rule: _Rule, max_show: int
    ) -> Tally | Verdict:
        """Judge every element of the prefix, or give the verdict that needs no judging."""
        if (why := shape_difference(actual, expected)) is not None:
            return False, f"    {why}"
        if self.valid_rows is not None:
            wrong = self._wrong_range(actual)
            if wrong is not None:
                return False, f"    {wrong}"
            tail = actual.narrow(
                self.valid_axis, self.valid_rows, actual.shape[self.valid_axis] - self.valid_rows
            )
            if self.zero_tail and (count := _nonzero_count(tail)):
                return False, f"    inactive tail contains {count} nonzero values"
            actual, expected = (t.narrow(self.valid_axis, 0, self.valid_rows) for t in (actual, expected))
        if actual.numel() == 0:
            return True, ""
        tally = _judge(actual, expected, rule, max_show)
        if tally.non_finite:
            return False, f"    illegal values in comparison: {tally.non_finite}"
        return tally

    def _wrong_range(self, actual: torch.Tensor) -> str | None:
        assert self.valid_rows is not None
        if not -actual.dim() <= self.valid_axis < actual.dim():
            return f"valid_axis={self.valid_axis} out of range for a tensor of {actual.dim()} dimensions"
        length = actual.shape[self.valid_axis]
        if not 0 <= self.valid_rows <= length:
            return f"valid_rows={self.valid_rows} out of range for axis {self.valid_axis} of length {length}"
        return None


def _nonzero_count(tensor: torch.Tensor) -> int:
    return sum(int((part.as_float32().actual != 0).sum()) for part in parts(tensor, tensor))


def _judge(actual: torch.Tensor, expected: torch.Tensor, rule: _Rule, max_show: int) -> Tally:
    tally = Tally(tuple(actual.shape))
    for part in parts(actual, expected):
        wide = part.as_float32()
        tally.non_finite.count(wide)
        difference, bad = rule(wide.actual, wide.expected)
        count = int(bad.sum())
        tally.worst.look(part.start, difference)
        if count and len(tally.shown) < max_show:
            tally.shown += first_elements(part, bad, max_show - len(tally.shown))
        tally.bad += count
    return tally
