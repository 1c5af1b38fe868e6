"""Comparing a computed tensor with an expected one: a verdict for any two tensors, never an exception."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from pypto_tmpl.compare.by_rank import ranks_line, wrong_by_rank
from pypto_tmpl.compare.differences import differences_of
from pypto_tmpl.compare.packed import as_numbers
from pypto_tmpl.compare.picture import ErrorPicture, error_picture
from pypto_tmpl.compare.rule import absolute_differences, are_same, wrong_elements
from pypto_tmpl.compare.shape import ErrorShape, error_shape
from pypto_tmpl.compare.tolerance import Tolerance, exponent_text
from pypto_tmpl.compare.verdicts import Comparator
from pypto_tmpl.execution.entry import user_name

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Rules:
    """How tensors are compared.

    ``default`` holds for floating-point tensors, of it ``atol`` for integers, and nothing for bools. A tensor
    named in ``per_tensor`` has that tolerance, whatever its dtype. ``widen_dtypes`` compares tensors of
    different dtypes by value instead of calling that a mismatch. With ``pictures`` verdicts on tensors that
    are not the same hold what a report draws of their errors. Of tensors that are ``stacked``, ranks along
    the first axis, verdicts tell which ranks are wrong.
    """

    default: Tolerance = Tolerance(5e-2, 5e-2)
    per_tensor: Mapping[str, Tolerance] = field(default_factory=dict)
    equal_nan: bool = False
    widen_dtypes: bool = False
    pictures: bool = False
    stacked: frozenset[str] = frozenset()

    def tolerance(self, name: str, *dtypes: torch.dtype) -> Tolerance:
        """The tolerance that holds for a tensor of these dtypes."""
        if name in self.per_tensor:
            return self.per_tensor[name]
        return self.default.of(*dtypes)


@dataclass(frozen=True, slots=True)
class TensorVerdict:
    """Whether one tensor is as expected; ``details`` say why it is not.

    ``is_input`` marks one that was only to be read: there is a verdict on it because it was changed.
    ``wrong_by_rank`` counts the wrong elements of each rank, of a tensor that holds the parts of all.
    """

    name: str
    passed: bool
    max_abs_diff: float
    tolerance: Tolerance
    reason: str = ""
    shape: ErrorShape | None = None
    comparator: str = ""
    picture: ErrorPicture | None = None
    is_input: bool = False
    wrong_by_rank: tuple[int, ...] = ()

    @property
    def rerun_name(self) -> str:
        """What a command that repeats the check is to compare: "" for all outputs, as for an input."""
        return "" if self.is_input else self.name

    def line(self) -> str:
        """The one-line verdict."""
        text = (
            f"validate tensor: {self.name!r}, max_abs_diff: {self.max_abs_diff:.6e}, pass: {self.passed}, "
            f"rtol: {exponent_text(self.tolerance.rtol)}, atol: {exponent_text(self.tolerance.atol)}"
        )
        return f"{text}, comparator: {self.comparator}" if self.comparator else text

    def details(self) -> Iterator[str]:
        """What is wrong, line by line; nothing for a tensor that passed."""
        if self.passed:
            return
        yield from self.reason.splitlines()
        if self.wrong_by_rank:
            yield ranks_line(self.wrong_by_rank)
        if self.shape is not None:
            yield from self.shape.lines()


def compare_tensors(name: str, actual: torch.Tensor, expected: torch.Tensor, rules: Rules) -> TensorVerdict:
    """The verdict on one tensor; packed FP4 is compared number by number, and its indices count these."""
    tolerance = rules.tolerance(name, actual.dtype, expected.dtype)
    if actual.is_meta or expected.is_meta:
        side = "the computed" if actual.is_meta else "the expected"
        reason = f"{side} tensor {name!r} is on the meta device: it holds no values"
        return TensorVerdict(name, False, float("nan"), tolerance, reason)
    dtypes = actual.dtype, expected.dtype
    actual, expected = as_numbers(actual.detach().cpu()), as_numbers(expected.detach().cpu())
    if actual.shape != expected.shape:
        reason = f"shape {list(actual.shape)}, expected {list(expected.shape)}"
        if _would_broadcast(actual, expected):
            reason += ": they would broadcast, which is no match"
        return TensorVerdict(name, False, float("nan"), tolerance, reason)
    try:
        found = differences_of(actual, expected, tolerance, rules.equal_nan)
    except (RuntimeError, NotImplementedError):  # packed integers and quantized dtypes
        reason = f"torch cannot compare {dtypes[0]} with {dtypes[1]}"
        return TensorVerdict(name, False, float("nan"), tolerance, reason)
    reason = ""
    if dtypes[0] != dtypes[1] and not rules.widen_dtypes:
        values = "the values differ too" if found.bad else "the values agree"
        reason = f"dtype {dtypes[0]}, expected {dtypes[1]}: {values}"
    elif found.bad and found.bad == found.nan_pairs:
        reason = "every bad cell is NaN on both sides; with equal_nan these are right"
    by_rank: tuple[int, ...] = ()
    if found.bad and user_name(name) in rules.stacked:
        by_rank = wrong_by_rank(actual, expected, tolerance, rules.equal_nan)
    has_picture = rules.pictures and not are_same(actual, expected)
    return TensorVerdict(
        name,
        passed=not found.bad and not reason,
        max_abs_diff=found.max_abs,
        tolerance=tolerance,
        reason=reason,
        shape=error_shape(found, actual, expected) if found.bad else None,
        picture=_picture(actual, expected, tolerance, rules) if has_picture else None,
        wrong_by_rank=by_rank,
    )


def _picture(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, rules: Rules
) -> ErrorPicture | None:
    absolute = absolute_differences(actual, expected, rules.equal_nan)
    return error_picture(absolute, wrong_elements(actual, expected, tolerance, rules.equal_nan))


def worst_difference(differences: Iterable[float]) -> float:
    """The largest of several differences; one that is NaN is the worst, none are NaN."""
    return max(differences, key=lambda difference: (math.isnan(difference), difference), default=math.nan)


def _would_broadcast(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    pairs = zip(reversed(actual.shape), reversed(expected.shape), strict=False)
    return all(left == right or 1 in (left, right) for left, right in pairs)


def compare_by(
    comparator: Comparator, name: str, actual: Tensors, expected: Tensors, inputs: Tensors, rules: Rules
) -> TensorVerdict:
    """The verdict of a comparator; how far the cells are apart is told in any case."""
    plain = compare_tensors(name, actual[name], expected[name], rules)
    title = str(getattr(comparator, "__name__", type(comparator).__name__))
    try:
        answer: Any = comparator(
            actual[name],
            expected[name],
            actual_outputs=actual,
            expected_outputs=expected,
            inputs=inputs,
            rtol=plain.tolerance.rtol,
            atol=plain.tolerance.atol,
        )
        passed, text = answer if isinstance(answer, tuple) else (answer, "")
    except Exception as error:
        passed, text = False, f"the comparator raised {type(error).__name__}: {error}"
    return replace(plain, passed=bool(passed), reason=str(text).strip("\n"), comparator=title)
