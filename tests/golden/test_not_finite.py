"""NaN, infinities and tensors without values: what is printed of them is no 0."""

import pytest
import torch

from pypto_tmpl.golden.closeness import compare_close
from pypto_tmpl.golden.validation import ValidationError, validate_golden

NAN, INF = float("nan"), float("inf")


def measured(actual, expected, **options):
    return next(compare_close(torch.tensor(actual), torch.tensor(expected), 0.1, 0.1, **options).measured())


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        ([1.5, INF], [1.0, 2.0], "max abs diff=inf at [1] (else 5.000e-01 at [0]), max rel diff=inf at [1] "),
        ([1.0, 2.0], [1.0, INF], "max abs diff=inf at [1] (else 0.000e+00), max rel diff=inf at [1] (else"),
        ([INF, 1.5], [INF, 1.0], "max abs diff=5.000e-01 at [1], max rel diff=5.000e-01 at [1]; "),
        ([INF, NAN], [-INF, 1.0], "max abs diff=nan at [1], inf at [0] (else 0.000e+00), max rel diff=nan"),
        (
            [1.5, NAN],
            [1.0, 2.0],
            "max abs diff=nan at [1] (else 5.000e-01 at [0]),"
            " max rel diff=nan at [1] (else 5.000e-01 at [0])",
        ),
        (
            [0.0, 2.0],
            [0.0, NAN],
            "max abs diff=nan at [1] (else 0.000e+00), max rel diff=nan at [1] (else 0.000e+00)",
        ),
    ],
)
def test_the_largest_difference(actual, expected, text):
    assert measured(actual, expected).startswith(text)


def test_nan_that_is_equal_is_no_difference():
    assert measured([NAN, 1.5], [NAN, 1.0], equal_nan=True).startswith("max abs diff=5.000e-01 at [1],")


@pytest.mark.parametrize("side", ["actual", "expected"])
def test_an_output_without_values_is_named(side, capsys):
    pair = {"actual": torch.ones(2), "expected": torch.ones(2)}
    pair[side] = torch.ones(2, device="meta")
    for comparators in (None, {"y": lambda *args, **given: (True, "")}):
        with pytest.raises(ValidationError, match=f"'y' FAIL.*\n.*{side} on the meta device: no values"):
            validate_golden({"y": pair["actual"]}, {"y": pair["expected"]}, compare_fn=comparators)
