"""ratio_allclose and ratio_reldiff, against exact arithmetic on fractions."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl.golden import ratio_allclose, ratio_reldiff

NAN, INF = math.nan, math.inf


def compare(comparator, actual, expected, rtol=1e-5, atol=1e-5):
    actual, expected = (t if isinstance(t, torch.Tensor) else torch.tensor(t) for t in (actual, expected))
    return comparator(
        actual, expected, actual_outputs={}, expected_outputs={}, inputs={}, rtol=rtol, atol=atol
    )


@pytest.mark.parametrize("factory", [ratio_allclose, ratio_reldiff])
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0,), (2, 0, 3)])
def test_equal_tensors_pass(factory, shape):
    assert compare(factory(), torch.ones(shape), torch.ones(shape)) == (True, "")


def test_ratio_allclose_counts_elements_over_the_tolerance():
    """Of 8 elements, 0.25 allows 2: three are off by more than 0.5 + 0.1 * |e|."""
    expected = [0.0, 0.0, 10.0, 10.0, -10.0, -10.0, 1.0, 1.0]
    actual = [0.5, 0.75, 11.5, 11.75, -11.5, -8.25, 1.0, 1.0]  # 0.5 and 1.5 are exactly on the limit
    comparator = ratio_allclose(atol=0.5, rtol=0.1, max_error_ratio=0.25)
    assert compare(comparator, actual, expected) == (
        False,
        "    bad elements: 3/8 (37.5000%), allowed 25.0000% = 2  atol=0.5 rtol=0.1\n"
        "    max abs diff=1.750e+00 at [3]\n"
        "    first 3 bad:\n"
        "    [1] actual=0.75, expected=0.0\n"
        "    [3] actual=11.75, expected=10.0\n"
        "    [5] actual=-8.25, expected=-10.0",
    )
    assert compare(ratio_allclose(atol=0.5, rtol=0.1, max_error_ratio=0.375), actual, expected) == (True, "")


def test_ratio_allclose_falls_back_to_the_tolerances_of_the_run():
    assert compare(ratio_allclose(), [1.0], [1.5], atol=0.5, rtol=0.0)[0]
    assert not compare(ratio_allclose(), [1.0], [1.5], atol=0.4, rtol=0.0)[0]
    assert not compare(ratio_allclose(atol=0.4), [1.0], [1.5], atol=0.5, rtol=0.0)[0]
    assert compare(ratio_allclose(rtol=0.5), [1.0], [1.5], atol=0.0, rtol=0.0)[0]


@pytest.mark.parametrize(
    ("numel", "ratio", "allowed"),
    [
        (99, 0.005, 0),
        (100, 0.005, 0),
        (101, 0.005, 1),
        (300, 0.005, 2),
        (500, 0.005, 2),
        (700, 0.005, 4),
        (4, 1, 4),
    ],
)
def test_the_threshold_is_rounded_half_to_even(numel, ratio, allowed):
    """100 * 0.005 is 0.5, which rounds to 0; 1.5 rounds to 2, 2.5 to 2, 3.5 to 4."""
    expected = torch.zeros(numel)
    for bad, passes in ((allowed, True), (allowed + 1, False)):
        actual = torch.zeros(numel)
        actual[: min(bad, numel)] = 1.0
        if bad <= numel:
            assert compare(ratio_allclose(max_error_ratio=ratio), actual, expected)[0] is passes
            assert compare(ratio_reldiff(pct_thd=ratio), actual, expected)[0] is passes


@pytest.mark.parametrize("factory", [ratio_allclose, ratio_reldiff])
@pytest.mark.parametrize(
    ("actual", "expected", "counts"),
    [
        ([NAN], [NAN], "actual: NaN=1 Inf=0; expected: NaN=1 Inf=0"),
        ([INF], [INF], "actual: NaN=0 Inf=1; expected: NaN=0 Inf=1"),
        ([INF], [-INF], "actual: NaN=0 Inf=1; expected: NaN=0 Inf=1"),
        ([NAN], [1.0], "actual: NaN=1 Inf=0; expected: NaN=0 Inf=0"),
        ([1.0, -INF, NAN], [1.0, 2.0, 3.0], "actual: NaN=1 Inf=1; expected: NaN=0 Inf=0"),
        ([NAN] * 4, [NAN] * 4, "actual: NaN=4 Inf=0; expected: NaN=4 Inf=0"),
    ],
)
def test_values_that_are_not_finite_fail(factory, actual, expected, counts):
    assert compare(factory(), actual, expected) == (False, f"    illegal values in comparison: {counts}")


@pytest.mark.parametrize("factory", [ratio_allclose, ratio_reldiff])
def test_shapes_that_would_broadcast_fail(factory):
    assert compare(factory(), torch.ones(4, 1), torch.ones(4)) == (
        False,
        "    shape mismatch: actual (4, 1), expected (4,)",
    )


@pytest.mark.parametrize("factory", [ratio_allclose, ratio_reldiff])
@pytest.mark.parametrize(
    "dtypes",
    [
        (torch.bfloat16, torch.float32),
        (torch.int8, torch.float64),
        (torch.bool, torch.uint8),
        (torch.float8_e4m3fn, torch.float16),
    ],
    ids=str,
)
def test_mixed_dtypes_are_compared_in_float32(factory, dtypes):
    values = torch.tensor([0, 1, 1, 0])
    assert compare(factory(), values.to(dtypes[0]), values.to(dtypes[1])) == (True, "")
    passed, message = compare(factory(), values.to(dtypes[0]), (1 - values).to(dtypes[1]))
    assert not passed
    assert message.startswith("    bad elements: 4/4 (100.0000%)")


@pytest.mark.parametrize("factory", [ratio_allclose, ratio_reldiff])
class TestPrefix:
    actual = torch.tensor([[1.0, 9.0, 0.0], [2.0, 9.0, 0.0]])
    expected = torch.tensor([[1.0, 1.0, 5.0], [2.0, 2.0, 5.0]])

    def test_only_the_first_entries_along_the_axis_count(self, factory):
        assert compare(factory(valid_rows=1, valid_axis=1), self.actual, self.expected) == (True, "")
        passed, message = compare(factory(valid_rows=1), self.actual, self.expected)
        assert not passed
        assert message.startswith("    bad elements: 2/3 ")
        assert "\n    [0, 1] actual=9.0, expected=1.0\n    [0, 2] actual=0.0, expected=5.0" in message

    def test_the_rest_may_have_to_be_zeros(self, factory):
        options = {"valid_axis": 1, "zero_tail": True}
        assert compare(factory(valid_rows=1, **options), self.actual, self.expected) == (
            False,
            "    inactive tail contains 2 nonzero values",
        )
        tail = self.actual.clone()
        tail[:, 1] = 0
        assert compare(factory(valid_rows=1, **options), tail, self.expected) == (True, "")
        tail[0, 2] = NAN
        assert compare(factory(valid_rows=1, **options), tail, self.expected) == (
            False,
            "    inactive tail contains 1 nonzero values",
        )

    def test_no_entry_at_all_passes_unless_the_tail_says_otherwise(self, factory):
        assert compare(factory(valid_rows=0), self.actual, self.expected) == (True, "")
        assert compare(factory(valid_rows=0, zero_tail=True), self.actual, self.expected) == (
            False,
            "    inactive tail contains 4 nonzero values",
        )

    @pytest.mark.parametrize("rows", [-1, 4])
    def test_rows_out_of_range(self, factory, rows):
        assert compare(factory(valid_rows=rows, valid_axis=1), self.actual, self.expected) == (
            False,
            f"    valid_rows={rows} out of range for axis 1 of length 3",
        )

    def test_an_axis_out_of_range(self, factory):
        assert compare(factory(valid_rows=1, valid_axis=2), self.actual, self.expected) == (
            False,
            "    valid_axis=2 out of range for a tensor of 2 dimensions",
        )
        assert compare(factory(valid_rows=0), torch.tensor(1.0), torch.tensor(2.0)) == (
            False,
            "    valid_axis=0 out of range for a tensor of 0 dimensions",
        )

    def test_values_beyond_the_prefix_may_be_anything(self, factory):
        actual = self.actual.clone()
        actual[:, 1:] = NAN
        assert compare(factory(valid_rows=1, valid_axis=-2), actual[:, :1], self.expected[:, :1])[0]
        assert compare(factory(valid_rows=1, valid_axis=1), actual, self.expected) == (True, "")


def test_ratio_reldiff_with_an_absolute_and_a_relative_part():
    """diff_thd 0.5: differences below it count as they are, others relative to the larger magnitude."""
    actual = [0.25, 5.0, 8.0, -4.0]
    expected = [0.0, 4.0, 3.0, 4.0]
    # 0.25 -> 0.25; 1 / 5 = 0.2; 5 / 8 = 0.625 is bad; 8 / 4 = 2 is bad
    assert compare(ratio_reldiff(diff_thd=0.5, pct_thd=0.25), actual, expected) == (
        False,
        "    bad elements: 2/4 (50.0000%), allowed 25.0000% = 1  diff_thd=0.5 max_diff_hd=inf\n"
        "    max rel diff=2.000e+00 at [3]\n"
        "    first 2 bad:\n"
        "    [2] actual=8.0, expected=3.0\n"
        "    [3] actual=-4.0, expected=4.0",
    )
    assert compare(ratio_reldiff(diff_thd=0.5, pct_thd=0.5), actual, expected) == (True, "")


def test_ratio_reldiff_caps_a_single_difference():
    actual, expected = [8.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0]  # 6 / 8 = 0.75
    assert compare(ratio_reldiff(diff_thd=0.5, pct_thd=0.5, max_diff_hd=0.76), actual, expected)[0]
    assert not compare(ratio_reldiff(diff_thd=0.5, pct_thd=0.5, max_diff_hd=0.74), actual, expected)[0]
    # A good element is not held against the cap.
    assert compare(ratio_reldiff(diff_thd=0.5, pct_thd=0.5, max_diff_hd=0.1), [2.25, 1.0], [2.0, 1.0])[0]


def test_ratio_reldiff_does_not_divide_by_tiny_magnitudes():
    """With diff_thd 2^-7 magnitudes count as 2^-7 (2^-14 / 2^-7) at least: 2^-6 / 2^-6 and 2^-8 < 2^-7."""
    assert compare(ratio_reldiff(diff_thd=2**-7, pct_thd=0), [2.0**-8], [0.0])[0]
    assert not compare(ratio_reldiff(diff_thd=2**-7, pct_thd=0), [2.0**-6], [0.0])[0]
    # diff 2^-7 over max(2^-8, 2^-8, 2^-7) + 1e-9: nearly 1
    passed, message = compare(ratio_reldiff(diff_thd=2**-7, pct_thd=0), [2.0**-8], [-(2.0**-8)])
    assert not passed
    assert "max rel diff=1.000e+00 at [0]" in message


dyadic = st.integers(-64, 64).map(lambda n: n / 8)


@given(pairs=st.lists(st.tuples(dyadic, dyadic), min_size=1, max_size=12), allowed=st.integers(0, 4))
def test_against_fractions(pairs, allowed):
    """Values, tolerances and differences here are exact in float32."""
    actual, expected = zip(*pairs, strict=True)
    atol, rtol = Fraction(1, 4), Fraction(1, 8)
    bad = sum(abs(Fraction(a) - Fraction(e)) > atol + rtol * abs(Fraction(e)) for a, e in pairs)
    ratio = min(allowed / len(pairs), 1.0)
    comparator = ratio_allclose(atol=float(atol), rtol=float(rtol), max_error_ratio=ratio)
    assert compare(comparator, list(actual), list(expected))[0] is (bad <= round(ratio * len(pairs)))

    threshold = Fraction(1, 8)
    relative = []
    for a, e in ((Fraction(a), Fraction(e)) for a, e in pairs):
        diff = abs(a - e)
        magnitude = max(abs(a), abs(e), Fraction(1, 16384) / threshold) + Fraction(1, 10**9)
        relative.append(diff if diff < threshold else diff / magnitude)
    bad = sum(r > threshold for r in relative)
    if all(abs(r - threshold) > Fraction(1, 10**5) for r in relative):
        comparator = ratio_reldiff(diff_thd=0.125, pct_thd=ratio)
        assert compare(comparator, list(actual), list(expected))[0] is (bad <= round(ratio * len(pairs)))


def test_large_and_strided_tensors_are_walked_in_order():
    """More than one part, and rows that are not contiguous; indices are those of the whole tensor."""
    base = torch.zeros(700, 1000)
    actual = base.clone()
    actual[3, 7] = actual[699, 998] = 1.0
    passed, message = compare(ratio_allclose(max_error_ratio=0), actual, base)
    assert not passed
    assert message.endswith("    [3, 7] actual=1.0, expected=0.0\n    [699, 998] actual=1.0, expected=0.0")
    passed, message = compare(ratio_allclose(max_error_ratio=0), actual.t(), base.t())
    assert message.endswith("    [7, 3] actual=1.0, expected=0.0\n    [998, 699] actual=1.0, expected=0.0")
    wide = torch.zeros(3, 600_000)
    wide[1, 500_000] = 1.0
    strided = torch.stack([wide, wide], -1)[..., 0]
    passed, message = compare(ratio_allclose(max_error_ratio=0), strided, torch.zeros(3, 600_000))
    assert message.endswith("first 1 bad:\n    [1, 500000] actual=1.0, expected=0.0")


def test_only_so_many_bad_elements_are_shown():
    passed, message = compare(ratio_allclose(max_show=2), torch.ones(5), torch.zeros(5))
    assert message.splitlines()[2:] == [
        "    first 2 bad:",
        "    [0] actual=1.0, expected=0.0",
        "    [1] actual=1.0, expected=0.0",
    ]


def test_names():
    assert ratio_allclose(1e-4, 1 / 128).__name__ == (
        "ratio_allclose(atol=0.0001, rtol=0.0078125, max_error_ratio=0.005, "
        "valid_rows=None, valid_axis=0, zero_tail=False)"
    )
    assert ratio_reldiff(valid_rows=3, zero_tail=True).__name__ == (
        "ratio_reldiff(diff_thd=0.01, pct_thd=0.05, max_diff_hd=inf, "
        "valid_rows=3, valid_axis=0, zero_tail=True)"
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ratio_allclose(max_error_ratio=1.5), "max_error_ratio must be in [0, 1], got 1.5"),
        (lambda: ratio_allclose(max_error_ratio=NAN), "max_error_ratio must be in [0, 1], got nan"),
        (lambda: ratio_reldiff(pct_thd=-0.1), "pct_thd must be in [0, 1], got -0.1"),
        (lambda: ratio_reldiff(diff_thd=0), "diff_thd must be > 0, got 0"),
        (lambda: ratio_reldiff(max_diff_hd=-1), "max_diff_hd must be > 0, got -1"),
    ],
)
def test_wrong_limits(make, text):
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == text
