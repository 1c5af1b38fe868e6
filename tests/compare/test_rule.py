"""The one rule, against torch.isclose for floats and Python's own integers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl.compare.differences import differences_of
from pypto_tmpl.compare.elements import PART
from pypto_tmpl.compare.rule import absolute_differences, wrong_elements
from pypto_tmpl.compare.tolerance import EXACT, Tolerance

INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)
SPECIAL = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 65504.0])
EIGHTHS = st.integers(-32, 32).map(lambda number: number / 8)  # of which many are at the very limit
FLOATS = st.lists(EIGHTHS | SPECIAL, min_size=1, max_size=8)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@given(left=FLOATS, right=FLOATS, equal_nan=st.booleans())
def test_floats_are_judged_as_torch_does(dtype, left, right, equal_nan):
    size = min(len(left), len(right))
    actual, expected = (torch.tensor(values[:size]).to(dtype) for values in (left, right))
    close = torch.isclose(actual, expected, rtol=0.25, atol=0.5, equal_nan=equal_nan)
    assert torch.equal(wrong_elements(actual, expected, Tolerance(0.25, 0.5), equal_nan), ~close)


@given(left=INT64, right=INT64)
def test_integers_of_64_bits_are_judged_exactly(left, right):
    actual, expected = torch.tensor([left]), torch.tensor([right])
    assert bool(wrong_elements(actual, expected, EXACT)) is (left != right)
    assert absolute_differences(actual, expected).item() == pytest.approx(abs(left - right), rel=1e-15)


@given(left=UINT64, right=INT64)
def test_unsigned_integers_are_told_from_signed_ones(left, right):
    actual, expected = torch.tensor([left], dtype=torch.uint64), torch.tensor([right])
    assert bool(wrong_elements(actual, expected, EXACT)) is (left != right)


@pytest.mark.parametrize(
    ("dtypes", "tolerance"),
    [
        ([torch.float16], Tolerance(0.5, 2.0)),
        ([torch.complex64], Tolerance(0.5, 2.0)),
        ([torch.int8], Tolerance(0.0, 2.0)),
        ([torch.bool, torch.int8], Tolerance(0.0, 2.0)),
        ([torch.bool], EXACT),
        ([torch.bool, torch.float32], Tolerance(0.5, 2.0)),
    ],
)
def test_what_of_a_tolerance_holds_for_a_dtype(dtypes, tolerance):
    assert Tolerance(0.5, 2.0).of(*dtypes) == tolerance


def test_counts_and_places_go_across_parts():
    expected = torch.zeros(PART + 8)
    expected[3] = math.inf
    expected[PART + 1] = math.inf
    actual = expected.clone()
    actual[PART + 2], actual[PART + 5] = 1.0, math.nan
    found = differences_of(actual, expected, EXACT)
    assert (found.bad, found.unequal) == (2, 2)
    assert [element.index for element in found.first] == [PART + 2, PART + 5]
    counts = found.non_finite  # also of the first part, which is equal
    assert (counts.actual_inf, counts.expected_inf, counts.actual_nan, counts.expected_nan) == (2, 2, 1, 0)
    assert (found.absolute.value, found.absolute.index) == (1.0, PART + 2)
    assert math.isnan(found.max_abs)
