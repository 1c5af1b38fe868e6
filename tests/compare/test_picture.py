"""Maps and histograms of errors, against counts and extremes taken cell by cell."""

import math

import pytest
import torch

from pypto_tmpl.compare.picture import LEVELS, MOST_BINS, NOT_FINITE, error_picture
from pypto_tmpl.compare.tensors import Rules, compare_tensors


def picture(errors, bad=None):
    found = error_picture(errors.double(), errors > 1 if bad is None else bad)
    assert found is not None
    return found


def value(map_, level):
    """The error that a level stands for, as the legend of the map explains it."""
    return map_.low * (map_.high / map_.low) ** ((level - 1) / (LEVELS - 1))


def test_a_small_tensor_has_a_point_for_each_cell():
    found = picture(torch.tensor([[0.0, 0.001, 0.1], [10.0, math.inf, math.nan]], dtype=torch.float64)).map
    assert (found.shape, found.rows, found.columns) == ((2, 3), 2, 3)
    assert (found.bin_rows, found.bin_columns) == (1, 1)
    assert (found.low, found.high) == (0.001, 10.0)
    # On a logarithmic scale 0.1 is in the middle between 0.001 and 10.
    assert list(found.levels) == [0, 1, 1 + round((LEVELS - 1) / 2), LEVELS, NOT_FINITE, NOT_FINITE]
    assert list(found.bad) == [0, 0, 0, 255, 255, 0]


def test_a_bin_shows_its_largest_error():
    generator = torch.Generator().manual_seed(3)
    errors = 10 ** (torch.rand(500, 777, generator=generator, dtype=torch.float64) * 8 - 6)
    found = picture(errors).map
    assert found.rows <= MOST_BINS and found.columns <= MOST_BINS
    assert found.bin_rows & (found.bin_rows - 1) == found.bin_columns & (found.bin_columns - 1) == 0
    for row in range(0, found.rows, 7):
        for column in range(found.columns):
            rows = slice(row * found.bin_rows, (row + 1) * found.bin_rows)
            columns = slice(column * found.bin_columns, (column + 1) * found.bin_columns)
            cells = errors[rows, columns]
            at = row * found.columns + column
            assert value(found, found.levels[at]) == pytest.approx(float(cells.max()), rel=0.05)
            assert found.bad[at] == math.ceil(int((cells > 1).sum()) / cells.numel() * 255)


def test_one_bad_cell_among_many_is_seen():
    errors = torch.zeros(4096, 4096)
    errors[4000, 17] = 2.0
    found = picture(errors).map
    at = 4000 // found.bin_rows * found.columns + 17 // found.bin_columns
    assert [n for n, level in enumerate(found.levels) if level] == [at]
    assert [n for n, share in enumerate(found.bad) if share] == [at]


@pytest.mark.parametrize(
    ("shape", "matrix"),
    [((), (1, 1)), ((5,), (1, 5)), ((3, 2, 4), (6, 4)), ((20_000,), (1, 313)), ((20_000, 1), (313, 1))],
)
def test_any_rank_is_a_matrix(shape, matrix):
    found = picture(torch.ones(shape)).map
    assert (found.rows, found.columns) == matrix
    assert len(found.levels) == matrix[0] * matrix[1] and set(found.levels) == {LEVELS}


def test_no_cells_have_no_picture():
    assert error_picture(torch.zeros(0, 4), torch.zeros(0, 4, dtype=torch.bool)) is None


def test_the_histogram_counts_good_and_bad_cells_apart():
    errors = torch.tensor([0.0, 0.0, 0.002, 0.03, 0.04, 5.0, math.inf, math.nan])
    bad = torch.tensor([False, False, False, False, True, True, True, True])
    found = picture(errors, bad).histogram
    assert (found.equal, found.not_finite, found.first) == (2, 2, -3)
    bars = [
        (10 ** (found.first + n / found.per_decade), *c)
        for n, c in enumerate(zip(found.good, found.bad, strict=True))
    ]
    counted = {round(math.log10(start), 3): (good, bad) for start, good, bad in bars if good or bad}
    assert found.per_decade == 8
    assert counted == {-2.75: (1, 0), -1.625: (1, 0), -1.5: (0, 1), 0.625: (0, 1)}


def test_bars_stay_few_over_any_range():
    found = picture(torch.tensor([1e-300, 1e-3, 1e300], dtype=torch.float64)).histogram
    assert len(found.good) <= 40
    assert sum(found.good) + sum(found.bad) == 3


def test_errors_of_one_size_have_the_highest_level():
    found = picture(torch.tensor([[0.0, 0.5], [0.5, 0.5]])).map
    assert (found.low, found.high, list(found.levels), found.bad) == (
        0.05,
        0.5,
        [0, LEVELS, LEVELS, LEVELS],
        b"",
    )


def test_a_verdict_has_its_picture_where_that_is_asked_for():
    actual, expected = torch.tensor([1.0, 2.0, 3.5]), torch.tensor([1.0, 2.0, 3.0])
    assert compare_tensors("x", actual, expected, Rules()).picture is None
    found = compare_tensors("x", actual, expected, Rules(pictures=True)).picture
    assert found is not None and list(found.map.levels) == [0, 0, LEVELS] and found.map.high == 0.5
    near = compare_tensors("x", expected + 1e-6, expected, Rules(pictures=True))
    assert near.passed and near.picture is not None
    assert compare_tensors("x", expected, expected, Rules(pictures=True)).picture is None
    assert compare_tensors("x", expected, expected[:1], Rules(pictures=True)).picture is None


DTYPES = [torch.bool, torch.uint8, torch.int64, torch.uint64, torch.bfloat16, torch.float8_e4m3fn]


@pytest.mark.parametrize("dtype", [*DTYPES, torch.complex64], ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_any_dtype_and_rank_can_be_drawn(dtype, shape):
    expected = torch.zeros(shape).to(dtype)
    actual = torch.ones(shape).to(dtype)
    found = compare_tensors("x", actual, expected, Rules(pictures=True))
    assert not found.passed and found.picture is not None
    assert found.picture.map.high == 1.0 and set(found.picture.map.levels) == {LEVELS}


def test_cells_that_are_nan_on_both_sides_are_not_drawn_as_errors_where_they_are_equal():
    nan = torch.tensor([math.nan, 1.0])
    rules = Rules(pictures=True, equal_nan=True)
    found = compare_tensors("x", nan, torch.tensor([math.nan, 1.0]) + torch.tensor([0.0, 1e-6]), rules)
    assert found.passed and found.picture is not None
    assert list(found.picture.map.levels) == [0, LEVELS] and found.picture.histogram.not_finite == 0
