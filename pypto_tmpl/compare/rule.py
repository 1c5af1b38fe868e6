"""The one rule: an element is wrong unless ``|actual - expected| <= atol + rtol * |expected|``.

Floats are judged as ``torch.isclose`` does, in their own dtype; 8-bit ones, for which torch has no
comparison, in float32, and tensors of two dtypes by value in the widest. Equal infinities agree, a NaN agrees
with a NaN or with nothing. Differences of integers do not wrap.
"""

from __future__ import annotations

import torch

from pypto_tmpl.compare.tolerance import EXACT, Tolerance

_EXACT_BELOW = 2.0**62  # smaller differences of 64-bit integers are computed as integers


def wrong_elements(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, equal_nan: bool = False
) -> torch.Tensor:
    """Which elements of two tensors of one shape are wrong."""
    if _are_inexact(actual, expected):
        left, right = _alike(actual, expected)
        return ~torch.isclose(left, right, tolerance.rtol, tolerance.atol, equal_nan)
    differs = ~_equal_integers(actual, expected)
    if tolerance == EXACT:
        return differs
    allowed = tolerance.atol + tolerance.rtol * magnitudes(expected)
    return differs & ~(absolute_differences(actual, expected) <= allowed)


def absolute_differences(
    actual: torch.Tensor, expected: torch.Tensor, equal_nan: bool = False
) -> torch.Tensor:
    """Distances in float64: NaN where a side is NaN, infinite where one is, 0 where they agree."""
    if not _are_inexact(actual, expected):
        return _integer_differences(actual, expected)
    common = torch.complex128 if actual.is_complex() or expected.is_complex() else torch.float64
    left, right = actual.to(common), expected.to(common)
    absolute = (left - right).abs()
    # inf - inf and the complex infinities give NaN although no side is NaN
    absolute[~left.isnan() & ~right.isnan() & absolute.isnan()] = float("inf")
    agree = left == right
    if equal_nan:
        agree |= left.isnan() & right.isnan()
    absolute[agree] = 0.0
    return absolute


def magnitudes(expected: torch.Tensor) -> torch.Tensor:
    """``|expected|`` in float64."""
    return expected.to(torch.complex128 if expected.is_complex() else torch.float64).abs()


def comparable(tensor: torch.Tensor) -> torch.Tensor:
    """The values in a dtype that torch compares, which floats of 8 bits are not."""
    return tensor.to(torch.float32) if _is_narrow(tensor) else tensor


def are_same(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two tensors are equal: the common case, at a fraction of the cost. NaN is never the same."""
    is_plain = actual.dtype == expected.dtype and not _is_narrow(actual)
    return is_plain and torch.equal(actual, expected)


def _is_narrow(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and tensor.dtype.itemsize == 1


def _are_inexact(*tensors: torch.Tensor) -> bool:
    return any(tensor.is_floating_point() or tensor.is_complex() for tensor in tensors)


def _alike(actual: torch.Tensor, expected: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two inexact tensors in a dtype in which torch compares them."""
    if actual.dtype == expected.dtype:
        return comparable(actual), comparable(expected)
    common = torch.complex128 if actual.is_complex() or expected.is_complex() else torch.float64
    return actual.to(common), expected.to(common)


def _equal_integers(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    left, right = actual.to(torch.int64), expected.to(torch.int64)
    equal = left == right
    # A wrapped unsigned value equals no signed one.
    for one, other, wrapped in ((actual, expected, left), (expected, actual, right)):
        if one.dtype == torch.uint64 and other.dtype != torch.uint64:
            equal &= wrapped >= 0
    return equal


def _integer_differences(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    rough = (actual.to(torch.float64) - expected.to(torch.float64)).abs()
    exact = (actual.to(torch.int64) - expected.to(torch.int64)).abs().to(torch.float64)
    absolute = torch.where(rough < _EXACT_BELOW, exact, rough)
    absolute[_equal_integers(actual, expected)] = 0.0
    return absolute
