"""error_distribution: what it prints, and that it passes."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl.compare.quantiles import finite_quantiles
from pypto_tmpl.golden import error_distribution


def compare(actual, expected, **options):
    actual, expected = (torch.as_tensor(t, dtype=torch.float32) for t in (actual, expected))
    comparator = error_distribution(**options)
    return comparator(actual, expected, actual_outputs={}, expected_outputs={}, inputs={}, rtol=0.0, atol=0.0)


def test_the_report(capsys):
    """Errors 3 and 4 on a golden of norm 10: 5 / 10. Cosine: 6 * 9 + 8 * 4 = 86, norms sqrt(97) and 10."""
    assert compare([9.0, 4.0], [6.0, 8.0], diff_thds=(0.4,), quantiles=(0.0, 0.5, 1.0)) == (True, "")
    cosine = 86 / (math.sqrt(97) * 10)
    assert capsys.readouterr().out.splitlines() == [
        f"    rel-L2 = 50.0000%  cosine = {cosine:.8f}  numel=2",
        "      diff_thd=0.4 frac>thd=50.0000% worst=5.000e-01",  # 3 / 9 and 4 / 8
        "      rel diff: p0=3.333e-01 p50=4.167e-01 p100=5.000e-01",
        "      abs diff: p0=3.000e+00 p50=3.500e+00 p100=4.000e+00",
        "      |golden|: p0=6.000e+00 p50=7.000e+00 p100=8.000e+00",
        "      mean |golden| = 7.000e+00",
    ]


def test_equal_and_empty_tensors(capsys):
    assert compare([0.0, 0.0], [0.0, 0.0], diff_thds=(0.1,), quantiles=(1.0,)) == (True, "")
    assert "rel-L2 = 0.0000%  cosine = 1.00000000  numel=2" in capsys.readouterr().out
    assert compare([], []) == (True, "")
    assert capsys.readouterr().out == "    rel-L2 = 0.0000%  cosine = 1.00000000  numel=0\n"


def test_a_golden_of_zeros(capsys):
    compare([1.0], [0.0], diff_thds=(), quantiles=())
    assert "rel-L2 = inf%  cosine = 0.00000000" in capsys.readouterr().out


def test_values_that_are_not_finite(capsys):
    line = "    illegal values in actual: NaN=1 Inf=1"
    assert compare([math.nan, math.inf, 1.0], [0.0, 0.0, 1.0]) == (True, line)
    assert capsys.readouterr().out.startswith(f"{line}\n")
    assert compare([math.nan, math.inf, 1.0], [0.0, 0.0, 1.0], always_pass=False) == (False, line)
    assert compare([5.0], [1.0], always_pass=False) == (True, "")


def test_shapes_that_differ(capsys):
    line = "    shape mismatch: actual (2,), expected (1,)"
    assert compare([1.0, 2.0], [1.0]) == (True, line)
    assert compare([1.0, 2.0], [1.0], always_pass=False) == (False, line)
    assert capsys.readouterr().out == f"{line}\n{line}\n"


floats = st.floats(0, width=32, allow_nan=False) | st.sampled_from([math.inf, math.nan, 0.0])


@given(values=st.lists(floats, max_size=40), share=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
def test_quantiles_are_those_of_the_sorted_finite_values(values, share):
    def metric():
        for start in range(0, len(values), 7):
            yield torch.tensor(values[start : start + 7], dtype=torch.float32)

    finite = sorted(value for value in values if math.isfinite(value))
    (found,) = finite_quantiles(metric, [share])
    if not finite:
        assert math.isnan(found)
        return
    rank = share * (len(finite) - 1)
    low, high = finite[math.floor(rank)], finite[math.ceil(rank)]
    assert found == pytest.approx(low + (high - low) * (rank % 1), rel=1e-12, abs=1e-300)


@pytest.mark.slow
def test_more_elements_than_torch_quantile_takes(capsys):
    """2^24 + 16 elements, of which 1 in 16 is off by 1."""
    expected = torch.zeros(2**24 + 16, dtype=torch.float16)
    actual = expected.clone()
    actual[::16] = 1.0
    comparator = error_distribution(diff_thds=(0.5,), quantiles=(0.9, 0.99))
    assert comparator(actual, expected, rtol=0.0, atol=0.0)[0]
    out = capsys.readouterr().out
    assert "frac>thd=6.2500% worst=1.000e+00" in out
    assert "abs diff: p90=0.000e+00 p99=1.000e+00" in out


def test_the_name():
    assert error_distribution().__name__ == "error_distribution"
