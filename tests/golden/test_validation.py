"""validate_golden: the default rule, comparators, and the text of a failure."""

import math
import re

import pytest
import torch

from pypto_tmpl.golden import ratio_allclose, topk_pair_compare, validate_golden

NAN, INF = math.nan, math.inf


def outcome(actual, expected, **options):
    """None for a pass, else the text."""
    actual, expected = (t if isinstance(t, torch.Tensor) else torch.tensor(t) for t in (actual, expected))
    try:
        validate_golden({"y": actual}, {"y": expected}, **options)
    except AssertionError as error:
        return str(error)
    return None


def test_the_text_of_a_failure():
    assert outcome([1.0, 2.0], [1.0, 3.0]) == (
        "Output(s) does not match golden: ['y']\n"
        "  'y' FAIL  shape=(2,) dtype=torch.float32\n"
        "    Mismatched elements: 1/2  rtol=1e-05 atol=1e-05\n"
        "    first 1 mismatches:\n"
        "    [1] actual=2.0, expected=3.0"
    )


def test_at_most_20_mismatches_are_listed_with_flat_indices():
    text = outcome(torch.ones(5, 5), torch.zeros(5, 5))
    lines = text.splitlines()
    assert lines[2] == "    Mismatched elements: 25/25  rtol=1e-05 atol=1e-05"
    assert lines[3] == "    first 20 mismatches:"
    assert [re.match(r"    \[(\d+)\]", line)[1] for line in lines[4:]] == [str(i) for i in range(20)]


@pytest.mark.parametrize(
    ("actual", "expected", "options", "passes"),
    [
        # |a - e| <= atol + rtol * |e|, with the expected value on the right
        ([1.5], [1.0], {"rtol": 0.0, "atol": 0.5}, True),
        ([1.5], [1.0], {"rtol": 0.0, "atol": 0.25}, False),
        ([12.0], [10.0], {"rtol": 0.25, "atol": 0.0}, True),
        ([10.0], [12.0], {"rtol": 0.125, "atol": 0.0}, False),
        ([NAN], [NAN], {}, False),
        ([NAN], [NAN], {"equal_nan": True}, True),
        ([NAN], [1.0], {"equal_nan": True}, False),
        ([1.0], [NAN], {"equal_nan": True}, False),
        ([INF], [INF], {}, True),
        ([-INF], [-INF], {}, True),
        ([INF], [-INF], {}, False),
        ([1e30], [INF], {"rtol": 1.0}, False),
        ([], [], {}, True),
        (5.0, 5.0, {}, True),
        (5.0, 6.0, {}, False),
        # integers: atol alone, exactly; bools: equal
        ([True, False], [True, False], {}, True),
        ([True, False], [True, True], {}, False),
        ([2**53 + 1], [2**53], {"rtol": 0.0, "atol": 0.0}, False),
        ([2**53 + 1], [2**53], {"rtol": 0.0, "atol": 1.0}, True),
        ([2**63 - 1], [-(2**63)], {"rtol": 0.5, "atol": 0.5}, False),
        ([-128], [127], {"rtol": 0.0, "atol": 254.0}, False),
        ([7], [8], {"rtol": 5e-2, "atol": 5e-2}, False),
        ([99], [100], {"rtol": 5e-2, "atol": 5e-2}, False),
        ([99], [100], {"rtol": 0.0, "atol": 1.0}, True),
        ([True], [False], {"rtol": 1.0, "atol": 1.0}, False),
    ],
)
def test_the_default_rule(actual, expected, options, passes):
    assert (outcome(actual, expected, **options) is None) is passes


@pytest.mark.parametrize(
    "dtype",
    [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int16, torch.uint16,
     torch.uint32, torch.uint64, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64],
    ids=str,
)  # fmt: skip
def test_every_dtype_gets_a_verdict(dtype):
    zeros, ones = torch.zeros(3).to(dtype), torch.ones(3).to(dtype)
    assert outcome(ones, ones.clone()) is None
    assert "Mismatched elements: 3/3" in outcome(ones, zeros)


def test_int8_differences_do_not_overflow():
    a, e = torch.tensor([-128], dtype=torch.int8), torch.tensor([127], dtype=torch.int8)
    assert outcome(a, e, rtol=0.0, atol=2.0) is not None


def test_shapes_that_would_broadcast_are_a_mismatch():
    assert outcome(torch.ones(2, 1), torch.ones(2)) == (
        "Output(s) does not match golden: ['y']\n"
        "  'y' FAIL  shape=(2, 1) dtype=torch.float32\n"
        "    shape mismatch: actual (2, 1), expected (2,)"
    )
    assert "shape mismatch: actual (3,), expected (4,)" in outcome(torch.ones(3), torch.ones(4))
    assert "shape mismatch: actual (0,), expected (2,)" in outcome(torch.ones(0), torch.ones(2))


def test_dtypes_that_differ_are_a_mismatch():
    assert outcome(torch.ones(2, dtype=torch.bfloat16), torch.ones(2)) == (
        "Output(s) does not match golden: ['y']\n"
        "  'y' FAIL  shape=(2,) dtype=torch.bfloat16\n"
        "    dtype mismatch: actual torch.bfloat16, expected torch.float32"
    )


def test_the_lines_of_all_outputs(capsys):
    outputs = {
        "y": torch.zeros(4, 8),
        "idx": torch.tensor([[0, 1]], dtype=torch.int32),
        "vals": torch.ones(1, 2),
    }
    golden = {name: tensor.clone() for name, tensor in outputs.items()}
    golden["y"][1, 2] = 0.5
    golden["vals"][0, 1] = 2.0
    with pytest.raises(AssertionError) as caught:
        validate_golden(outputs, golden, 1e-3, 1e-2, {"idx": topk_pair_compare("vals")})
    assert capsys.readouterr().out.splitlines() == [
        "[RUN]   'y' FAIL  shape=(4, 8) dtype=torch.float32",
        "          max abs diff=5.000e-01 at [1, 2], max rel diff=1.000e+00 at [1, 2]; "
        "tolerance rtol=0.001 atol=0.01, 1 of 32 over it (3.1250%)",
        "          abs diff quantiles: 0.5 0.000e+00, 0.9 0.000e+00, 0.99 5.000e-01, 0.999 5.000e-01",
        "          where: all in row 1, column 2",
        "[RUN]   'idx' PASS  shape=(1, 2) dtype=torch.int32 (topk_pair_compare)",
        "          tolerance of the run rtol=0.001 atol=0.01",
        "[RUN]   'vals' FAIL  shape=(1, 2) dtype=torch.float32",
        "          max abs diff=1.000e+00 at [0, 1], max rel diff=5.000e-01 at [0, 1]; "
        "tolerance rtol=0.001 atol=0.01, 1 of 2 over it (50.0000%)",
        "          abs diff quantiles: 0.5 0.000e+00, 0.9 1.000e+00, 0.99 1.000e+00, 0.999 1.000e+00",
        "          where: all in column 1",
    ]
    assert str(caught.value).splitlines() == [
        "Output(s) does not match golden: ['y', 'vals']",
        "  'y' FAIL  shape=(4, 8) dtype=torch.float32",
        "    Mismatched elements: 1/32  rtol=0.001 atol=0.01",
        "    first 1 mismatches:",
        "    [10] actual=0.0, expected=0.5",
        "  'vals' FAIL  shape=(1, 2) dtype=torch.float32",
        "    Mismatched elements: 1/2  rtol=0.001 atol=0.01",
        "    first 1 mismatches:",
        "    [1] actual=1.0, expected=2.0",
    ]


def test_a_pass_shows_its_tolerances_and_how_far_off_it_is(capsys):
    """A difference of 0.01 that a loose tolerance lets through is still seen."""
    assert outcome([1.01], [1.0], rtol=5e-2, atol=5e-2) is None
    assert capsys.readouterr().out.splitlines()[1] == (
        "          max abs diff=1.000e-02 at [0], max rel diff=1.000e-02 at [0]; "
        "tolerance rtol=0.05 atol=0.05"
    )


def test_a_failure_says_where_the_bad_elements_lie(capsys):
    """Lane 1 of a split by rows: the pattern is often the diagnosis."""
    expected = torch.zeros(64, 8)
    actual = expected.clone()
    actual.view(4, 16, 8)[:, 8:] = 1.0
    assert outcome(actual, expected) is not None
    assert capsys.readouterr().out.splitlines()[3:] == [
        "          where: all in rows 8-15 of each 16",
        "          where: the second half: what lane 1 of a split by rows computes",
    ]


def test_integers_that_pass_by_tolerance_are_told_of(capsys):
    assert outcome([99, 100, 3], [100, 100, 3], atol=1) is None
    assert capsys.readouterr().out.splitlines()[2] == "          1 of 3 integers differ within the tolerance"


def test_values_that_are_not_finite_are_counted_and_do_not_hide_the_difference(capsys):
    outcome([NAN, INF, 2.0], [NAN, -INF, 1.0])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("          max abs diff=nan at [0], inf at [1] (else 1.000e+00 at [2]),")
    assert " max rel diff=nan at [0], inf at [1] (else 1.000e+00 at [2]);" in lines[1]
    assert lines[3] == "          not finite: actual: NaN=1 Inf=1; expected: NaN=1 Inf=1"


def test_a_comparators_message_and_label():
    text = outcome([1.0], [2.0], compare_fn={"y": ratio_allclose(atol=0.5, rtol=0.0, max_error_ratio=0.0)})
    name = ratio_allclose(atol=0.5, rtol=0.0, max_error_ratio=0.0).__name__
    assert text == (
        "Output(s) does not match golden: ['y']\n"
        f"  'y' FAIL ({name})  shape=(1,) dtype=torch.float32\n"
        "    bad elements: 1/1 (100.0000%), allowed 0.0000% = 0  atol=0.5 rtol=0.0\n"
        "    max abs diff=1.000e+00 at [0]\n"
        "    first 1 bad:\n"
        "    [0] actual=1.0, expected=2.0"
    )


def test_what_a_comparator_is_called_with():
    outputs, golden, inputs = {"y": torch.ones(1)}, {"y": torch.zeros(1)}, {"x": torch.ones(2)}
    seen = {}

    class Custom:
        def __call__(self, actual, expected, **context):
            seen.update(context, actual=actual, expected=expected)
            return True, "unused"

    validate_golden(outputs, golden, 0.25, 0.5, {"y": Custom(), "unknown": Custom()}, inputs)
    assert (seen["rtol"], seen["atol"], seen["inputs"]) == (0.25, 0.5, inputs)
    assert seen["actual"].data_ptr() == outputs["y"].data_ptr()
    assert seen["actual_outputs"]["y"].data_ptr() == outputs["y"].data_ptr()
    assert seen["expected"].data_ptr() == seen["expected_outputs"]["y"].data_ptr() == golden["y"].data_ptr()


def test_a_comparator_without_a_name_is_custom(capsys):
    class Custom:
        def __call__(self, actual, expected, **context):
            return True, ""

    assert outcome([1.0], [2.0], compare_fn={"y": Custom()}) is None
    assert "'y' PASS  shape=(1,) dtype=torch.float32 (custom)" in capsys.readouterr().out


def test_a_comparator_that_raises_fails_its_output_alone():
    def broken(actual, expected, **context):
        raise KeyError("scale")

    outputs = {"y": torch.ones(1), "z": torch.ones(1)}
    golden = {"y": torch.ones(1), "z": torch.zeros(1)}
    with pytest.raises(AssertionError) as caught:
        validate_golden(outputs, golden, compare_fn={"y": broken})
    lines = str(caught.value).splitlines()
    assert lines[0] == "Output(s) does not match golden: ['y', 'z']"
    assert lines[1] == "  'y' FAIL (broken)  shape=(1,) dtype=torch.float32"
    assert lines[2] == "    compare_fn raised KeyError: 'scale'"
    assert re.fullmatch(rf"      at {re.escape(__file__)}:\d+, in broken", lines[3])


def test_a_comparator_that_returns_no_verdict():
    text = outcome([1.0], [1.0], compare_fn={"y": lambda actual, expected, **context: True})
    assert "compare_fn raised TypeError: a comparator returns (ok, message), this one returned True" in text
    assert "at " not in text.splitlines()[-1]  # nothing of the user's raised it


def test_outputs_without_golden():
    with pytest.raises(KeyError) as caught:
        validate_golden({"y": torch.ones(1), "z": torch.ones(1)}, {"x": torch.ones(1)})
    assert caught.value.args[0] == "no golden for output(s) ['y', 'z']; goldens: ['x']"


def test_tensors_that_require_grad_and_views():
    base = torch.zeros(2, 3, requires_grad=True)
    assert outcome(base.t(), torch.zeros(3, 2)) is None


def test_a_difference_beyond_the_first_part_is_found():
    expected = torch.zeros(1000, 1000, dtype=torch.bfloat16)
    actual = expected.clone()
    actual[999, 998] = 1.0
    assert "[999998] actual=1.0, expected=0.0" in outcome(actual, expected)
