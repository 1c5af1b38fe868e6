"""Verdicts on two tensors: every combination of dtypes, shapes and special values gets one."""

import itertools
import math

import pytest
import torch

from pypto_tmpl.compare.tensors import compare_by
from pypto_tmpl.compare.tolerance import exponent_text
from pypto_tmpl.debug import Rules, Tolerance, compare_tensors

INF, NAN = math.inf, math.nan
DTYPES = [
    torch.bool,
    *(torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    *(torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64),
]


def verdict(actual, expected, **rules):
    return compare_tensors("out", actual, expected, Rules(**rules))


def float_verdict(actual, expected, **rules):
    return verdict(torch.tensor(actual), torch.tensor(expected), **rules)


def test_the_line_is_that_of_the_guide_with_the_tolerances():
    found = float_verdict([1.0, 2.0], [1.0, 2.001234567])
    assert found.line() == (
        "validate tensor: 'out', max_abs_diff: 1.234531e-03, pass: True, rtol: 5e-02, atol: 5e-02"
    )
    assert list(found.details()) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5e-2, "5e-02"),
        (1e-5, "1e-05"),
        (1.5e-3, "1.5e-03"),
        (1 / 128, "7.8125e-03"),
        (0.0, "0e+00"),
        (1, "1e+00"),
        (1e100, "1e+100"),
        (INF, "inf"),
    ],
)
def test_tolerances_are_written_with_all_their_digits(value, text):
    assert exponent_text(value) == text


@pytest.mark.parametrize("wrong", [-1e-9, NAN])
def test_a_tolerance_is_a_number_from_zero_on(wrong):
    with pytest.raises(ValueError, match="rtol must be 0 or more, got "):
        Tolerance(wrong, 0)
    with pytest.raises(ValueError, match="atol must be 0 or more, got "):
        Tolerance(0, wrong)


@pytest.mark.parametrize(
    ("actual", "passes"), [(1.25, True), (1.2501, False), (0.75, True), (0.7499, False), (-1.0, False)]
)
def test_a_float_is_right_within_atol_and_rtol_of_what_is_expected(actual, passes):
    found = verdict(
        torch.tensor([actual], dtype=torch.float64),
        torch.tensor([1.0], dtype=torch.float64),
        default=Tolerance(0.125, 0.125),
    )
    assert found.passed is passes


@pytest.mark.parametrize(("left", "right"), list(itertools.product(DTYPES, DTYPES)), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (0, 4)])
def test_any_two_dtypes_get_a_verdict(left, right, shape):
    ones, zeros = torch.ones(shape).to(left), torch.zeros(shape).to(right)
    same = torch.ones(shape).to(right)
    assert verdict(ones, same).passed is (left == right)
    assert verdict(ones, same, widen_dtypes=True).passed
    is_empty = ones.numel() == 0
    assert verdict(ones, zeros, widen_dtypes=True).passed is is_empty
    assert verdict(ones, zeros).passed is (is_empty and left == right)
    assert verdict(ones, torch.ones(7).to(right)).passed is False
    for found in (verdict(ones, zeros), verdict(ones, same), verdict(ones, torch.ones(5).to(right))):
        assert found.line() and (found.passed or list(found.details()))


def test_a_dtype_mismatch_says_whether_the_values_agree():
    low, high = torch.tensor([1.0, 2.0]).bfloat16(), torch.tensor([1.0, 2.0])
    found = verdict(low, high)
    assert list(found.details()) == ["dtype torch.bfloat16, expected torch.float32: the values agree"]
    assert found.max_abs_diff == 0.0
    first, *rest = verdict(low, high + 1).details()
    assert first == "dtype torch.bfloat16, expected torch.float32: the values differ too"
    assert rest[0] == "bad cells: 2 of 2 (100 %)"


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        ((4, 1), (4, 8), "shape [4, 1], expected [4, 8]: they would broadcast, which is no match"),
        ((8,), (4, 8), "shape [8], expected [4, 8]: they would broadcast, which is no match"),
        ((), (1,), "shape [], expected [1]: they would broadcast, which is no match"),
        ((4, 2), (4, 8), "shape [4, 2], expected [4, 8]"),
        ((0, 8), (4, 8), "shape [0, 8], expected [4, 8]"),
    ],
)
def test_shapes_must_be_equal(actual, expected, text):
    found = verdict(torch.zeros(actual), torch.zeros(expected))
    assert list(found.details()) == [text]
    assert found.line().startswith("validate tensor: 'out', max_abs_diff: nan, pass: False, ")


@pytest.mark.parametrize(
    ("actual", "expected", "passes", "equal_nan_passes", "max_abs_diff"),
    [
        ([NAN], [NAN], False, True, 0.0),
        ([NAN, 1.0], [NAN, 1.0], False, True, 0.0),
        ([NAN], [1.0], False, False, NAN),
        ([1.0], [NAN], False, False, NAN),
        ([INF], [INF], True, True, 0.0),
        ([-INF], [-INF], True, True, 0.0),
        ([INF], [-INF], False, False, INF),
        ([INF], [1.0], False, False, INF),
        ([1.0], [INF], False, False, INF),
        ([NAN], [INF], False, False, NAN),
    ],
)
def test_nan_and_infinity(actual, expected, passes, equal_nan_passes, max_abs_diff):
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        left, right = torch.tensor(actual, dtype=dtype), torch.tensor(expected, dtype=dtype)
        assert verdict(left, right).passed is passes
        found = verdict(left, right, equal_nan=True)
        assert found.passed is equal_nan_passes
        assert found.max_abs_diff == pytest.approx(max_abs_diff, nan_ok=True)


def test_the_text_on_nan_counts_both_sides():
    found = float_verdict([NAN, 1.0, INF, 0.0], [1.0, NAN, 2.0, 0.0])
    assert found.line().startswith("validate tensor: 'out', max_abs_diff: inf, pass: False")
    assert list(found.details()) == [
        "bad cells: 3 of 4 (75 %)",
        "max abs diff: inf at [2]: got inf, expected 2.0",
        "first bad cell: nan at [0]: got nan, expected 1.0",
        "abs diff quantiles: 50 % 0.000e+00, 90 % 0.000e+00, 99 % 0.000e+00, 99.9 % 0.000e+00",
        "NaN: 1 got, 1 expected; inf: 1 got, 0 expected",
        "where: all in cells 0-2",
    ]


def test_pairs_of_nan_alone_point_to_the_option():
    found = float_verdict([NAN, 1.0], [NAN, 1.0])
    assert list(found.details()) == [
        "every bad cell is NaN on both sides; with equal_nan these are right",
        "bad cells: 1 of 2 (50 %)",
        "first bad cell: nan at [0]: got nan, expected nan",
        "NaN: 1 got, 1 expected; inf: 0 got, 0 expected",
        "where: all in cell 0",
    ]


def test_of_the_default_integers_have_atol_alone_and_bools_nothing():
    one, two = torch.tensor([1, 500], dtype=torch.int32), torch.tensor([1, 501], dtype=torch.int32)
    found = verdict(one, two, default=Tolerance(1.0, 0.5))
    assert not found.passed
    assert found.line() == (
        "validate tensor: 'out', max_abs_diff: 1.000000e+00, pass: False, rtol: 0e+00, atol: 5e-01"
    )
    assert verdict(one, two, default=Tolerance(0.0, 1.0)).passed
    assert verdict(one, one.clone(), default=Tolerance(0.0, 0.0)).passed
    assert not verdict(torch.tensor([True]), torch.tensor([False]), default=Tolerance(1.0, 100.0)).passed


def test_integers_have_a_tolerance_of_their_own_where_it_is_asked_for():
    one, two = torch.tensor([1, 5]), torch.tensor([1, 6])
    assert verdict(one, two, per_tensor={"out": Tolerance(0, 1)}).passed
    assert not verdict(one, two, per_tensor={"out": Tolerance(0, 0.5)}).passed
    assert not verdict(one, two, per_tensor={"other": Tolerance(0, 1)}).passed


@pytest.mark.parametrize(
    ("dtype", "actual", "expected", "difference"),
    [
        (torch.int64, 2**62 + 1, 2**62, 1.0),
        (torch.int64, -(2**63), 2**63 - 1, 2.0**64),
        (torch.uint64, 2**64 - 1, 0, 2.0**64),
        (torch.uint64, 2**64 - 1, 2**64 - 2, 1.0),
        (torch.uint8, 0, 255, 255.0),
        (torch.int8, -128, 127, 255.0),
    ],
)
def test_integers_do_not_wrap_or_lose_digits(dtype, actual, expected, difference):
    found = verdict(torch.tensor([actual], dtype=dtype), torch.tensor([expected], dtype=dtype))
    assert (found.passed, found.max_abs_diff) == (False, difference)


def test_an_unsigned_value_equals_no_negative_one():
    unsigned = torch.tensor([2**64 - 1], dtype=torch.uint64)
    assert not verdict(torch.tensor([-1]), unsigned, widen_dtypes=True).passed
    assert not verdict(unsigned, torch.tensor([-1]), widen_dtypes=True).passed


def test_dtypes_that_torch_does_not_compute_with_are_named():
    packed = torch.empty(4, dtype=torch.int4)
    assert list(verdict(packed, packed).details()) == ["torch cannot compare torch.int4 with torch.int4"]


def packed_fp4(codes):
    """A tensor of FP4 from bytes."""
    return torch.tensor(codes, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)


def test_packed_fp4_is_compared_number_by_number():
    expected = packed_fp4([[0x10, 0x32], [0x54, 0x76]])  # 0, 0.5, 1, 1.5 and 2, 3, 4, 6
    assert verdict(packed_fp4([[0x18, 0x32], [0x54, 0x76]]), expected).passed  # -0 is 0
    found = verdict(packed_fp4([[0x10, 0x32], [0x54, 0xF6]]), expected)
    assert (found.passed, found.max_abs_diff) == (False, 12.0)
    assert "[1, 3]" in "\n".join(found.details())
    near = Tolerance(0.0, 1.0)
    assert verdict(packed_fp4([[0x20, 0x32]]), packed_fp4([[0x10, 0x32]]), default=near).passed


def test_packed_fp4_and_its_numbers_agree_in_value_alone():
    packed, numbers = packed_fp4([0x9F]), torch.tensor([-6.0, -0.5])
    reason = "dtype torch.float4_e2m1fn_x2, expected torch.float32: the values agree"
    assert list(verdict(packed, numbers).details()) == [reason]
    assert verdict(packed, numbers, widen_dtypes=True).passed
    assert list(verdict(packed, torch.zeros(1)).details())[0].startswith("shape [2], expected [1]")


def test_complex_numbers_are_compared_by_their_distance():
    found = verdict(torch.tensor([3 + 4j]), torch.tensor([0j]))
    assert (found.passed, found.max_abs_diff) == (False, 5.0)
    infinite = torch.tensor([complex(INF, 0)])
    assert verdict(infinite, infinite).passed
    assert not verdict(infinite, torch.tensor([0j])).passed


def test_a_tensor_that_is_not_contiguous_or_needs_gradients_is_compared_too():
    base = torch.arange(12.0).reshape(3, 4)
    assert verdict(base.t().requires_grad_(), base.t().contiguous()).passed
    assert verdict(torch.ones(1).expand(5), torch.ones(5)).passed


def always(answer):
    def comparator(actual, expected, *, actual_outputs, expected_outputs, inputs, rtol, atol):
        return answer

    return comparator


def by(comparator, actual=1.0, expected=1.0):
    tensors = {"out": torch.tensor([actual])}, {"out": torch.tensor([expected])}
    return compare_by(comparator, "out", *tensors, {}, Rules())


def test_a_comparator_decides_and_is_named():
    passed = by(always((True, "")), 1.0, 3.0)
    assert passed.line() == (
        "validate tensor: 'out', max_abs_diff: 2.000000e+00, pass: True, rtol: 5e-02, atol: 5e-02, "
        "comparator: comparator"
    )
    failed = by(always((False, "\n    2 of 3 pairs are out of order\n")))
    assert (failed.passed, failed.reason) == (False, "    2 of 3 pairs are out of order")
    assert by(always(True)).passed and not by(always(False)).passed


def test_a_comparator_gets_everything():
    seen = {}

    def comparator(actual, expected, **more):
        seen.update(more)
        return actual is actual_outputs["out"] and expected is expected_outputs["out"], ""

    actual_outputs, expected_outputs = {"out": torch.ones(1)}, {"out": torch.zeros(1)}
    rules = Rules(per_tensor={"out": Tolerance(1.0, 2.0)})
    inputs = {"x": torch.ones(2)}
    assert compare_by(comparator, "out", actual_outputs, expected_outputs, inputs, rules).passed
    assert seen == {
        "actual_outputs": actual_outputs,
        "expected_outputs": expected_outputs,
        "inputs": inputs,
        "rtol": 1.0,
        "atol": 2.0,
    }


def test_a_comparator_that_raises_is_a_failed_verdict():
    def broken(*_, **__):
        raise KeyError("vals")

    found = by(broken)
    assert (found.passed, found.reason) == (False, "the comparator raised KeyError: 'vals'")


def test_top_k_ties():
    def same_scores(actual, expected, *, actual_outputs, expected_outputs, **_):
        scores = expected_outputs["scores"]
        bad = (scores[actual.long()] != scores[expected.long()]).nonzero().flatten().tolist()
        return not bad, f"position {bad[0]} picks a worse score" if bad else ""

    outputs = {"scores": torch.tensor([3.0, 2.0, 2.0, 1.0]), "idx": torch.tensor([0, 1, 2])}
    tie = {**outputs, "idx": torch.tensor([0, 2, 1])}
    worse = {**outputs, "idx": torch.tensor([0, 3, 1])}
    assert compare_by(same_scores, "idx", tie, outputs, {}, Rules()).passed
    found = compare_by(same_scores, "idx", worse, outputs, {}, Rules())
    assert (found.passed, found.reason) == (False, "position 1 picks a worse score")
