"""What is said about a mismatch: how much, how often, and where it lies."""

import pytest
import torch

from pypto_tmpl.compare.differences import quantiles_of
from pypto_tmpl.compare.places import bad_places, percent
from pypto_tmpl.debug import Rules, compare_tensors


def test_the_whole_text_of_a_mismatch_in_one_lane():
    expected = torch.full((64, 32), 2.0)
    actual = expected.clone()
    actual.view(4, 16, 32)[:, 8:] += 1.0
    actual[24, 7] = 6.0
    expected[40, 3] = 0.5
    found = compare_tensors("out", actual, expected, Rules())
    assert str(found.shape) == "\n".join(
        [
            "bad cells: 1024 of 2048 (50 %)",
            "max abs diff: 4.000000e+00 at [24, 7]: got 6.0, expected 2.0",
            "max rel diff: 5.000000e+00 at [40, 3]: got 3.0, expected 0.5",
            "first bad cell: 1.000000e+00 at [8, 0]: got 3.0, expected 2.0",
            "abs diff quantiles: 50 % 1.000e+00, 90 % 1.000e+00, 99 % 1.000e+00, 99.9 % 1.000e+00",
            "where: all in rows 8-15 of each 16",
            "where: the second half: what lane 1 of a split by rows computes",
        ]
    )


def test_quantiles_are_by_nearest_rank_over_all_cells():
    expected = torch.zeros(1001)
    actual = torch.arange(1001.0)
    shape = compare_tensors("out", actual, expected, Rules()).shape
    assert shape is not None
    assert shape.quantiles == ((0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (0.999, 999.0))
    assert shape.largest_relative is None  # nothing is expected to be other than zero
    assert (shape.bad, shape.cells) == (1000, 1001)


@pytest.mark.slow
def test_quantiles_of_more_cells_than_torch_quantile_takes():
    cells = 2**24 + 1
    assert quantiles_of(lambda: iter([torch.zeros(cells)])) == (
        (0.5, 0.0),
        (0.9, 0.0),
        (0.99, 0.0),
        (0.999, 0.0),
    )
    with pytest.raises(RuntimeError, match="too large"):
        torch.zeros(cells).quantile(0.5)


def test_a_single_cell_is_told_in_two_lines():
    shape = compare_tensors("out", torch.tensor(1.5), torch.tensor(2.5), Rules()).shape
    assert str(shape) == "\n".join(
        [
            "bad cells: 1 of 1 (100 %)",
            "max abs diff: 1.000000e+00 at []: got 1.5, expected 2.5",
            "max rel diff: 4.000000e-01 at []: got 1.5, expected 2.5",
        ]
    )


def mask(rows, columns, *places):
    found = torch.zeros(rows, columns, dtype=torch.bool)
    for place in places:
        found[place] = True
    return found


def lanes(rows, period, part):
    return [row for row in range(rows) if row % period in part]


def scatter(shape, share, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < share


SECOND_BY_ROWS = "the second half: what lane 1 of a split by rows computes"
SECOND_BY_COLUMNS = "the second half: what lane 1 of a split by columns computes"
FIRST_BY_COLUMNS = "the first half: what lane 0 of a split by columns computes"
PLACES = {
    "none": (mask(4, 4), ()),
    "every": (~mask(4, 4), ("every cell is bad",)),
    "one cell": (mask(64, 64, (3, 7)), ("all in row 3, column 7",)),
    "one row": (mask(64, 64, 5), ("all in row 5",)),
    "one column": (mask(64, 64, (slice(None), 9)), ("all in column 9",)),
    "few rows": (mask(64, 64, 2, 40), ("all in rows 2, 40",)),
    "lane 1 of 16": (
        mask(64, 32, lanes(64, 16, range(8, 16))),
        ("all in rows 8-15 of each 16", SECOND_BY_ROWS),
    ),
    "lane 0 by columns": (
        mask(32, 64, (slice(None), lanes(64, 32, range(16)))),
        ("all in columns 0-15 of each 32", FIRST_BY_COLUMNS),
    ),
    "upper half": (mask(64, 32, slice(32, 64)), ("all in rows 32-63", SECOND_BY_ROWS)),
    "ragged tail": (
        mask(75, 64, slice(64, 75)),
        ("all in rows 64-74", "the last 11 rows: a tail, or a wrong valid extent"),
    ),
    "inner tile": (mask(64, 64, (slice(16, 32), slice(8, 24))), ("all in rows 16-31, columns 8-23",)),
    "odd columns": (mask(64, 64, (slice(None), slice(1, None, 2))), ("all in every 2nd column from 1 on",)),
    "each third row": (mask(60, 64, slice(0, None, 3)), ("all in every 3rd row from 0 on",)),
    "period of 24": (
        mask(96, 8, lanes(96, 24, range(4, 10))),
        ("all in rows 4-9 of each 24",),
    ),
    "cut last period": (
        mask(40, 8, lanes(40, 16, range(8, 16))),
        ("all in rows 8-15 of each 16", SECOND_BY_ROWS),
    ),
    "above the diagonal": (
        torch.ones(64, 64).triu(1).bool(),
        (
            "all in rows 0-62, columns 1-63: 50.79 % of the cells there",
            "the bad cells are those above the diagonal",
        ),
    ),
    "two blocks": (
        mask(64, 64, (slice(0, 16), slice(0, 16)), (slice(16, 32), slice(32, 48))),
        (
            "all in rows 0-31, columns 0-15 of each 32: 50 % of the cells there",
            "all in 2 of the 16 blocks of 16 x 16, at [0, 0], [16, 32]",
        ),
    ),
    "blocks far apart": (
        mask(1024, 256, (slice(128, 256), slice(0, 128)), (slice(896, 1024), slice(128, 256))),
        (
            "all in rows 128-255 of each 256: 25 % of the cells there",
            "all in 2 of the 16 blocks of 128 x 128, at [128, 0], [896, 128]",
        ),
    ),
    "half full blocks": (
        mask(64, 64, (slice(0, 16), slice(0, 9)), (slice(48, 64), slice(48, 57))),
        (
            "all in columns 0-8 of each 16: 12.5 % of the cells there",
            "all in 2 of the 16 blocks of 16 x 16, at [0, 0], [48, 48]: 56.25 % of the cells there",
        ),
    ),
    "scattered": (scatter((64, 64), 0.02), ("scattered over the whole tensor: 2.197 % of its cells",)),
    "scattered in lane 1": (
        mask(64, 64, lanes(64, 16, range(8, 16))) & scatter((64, 64), 0.1),
        ("all in rows 8-15 of each 16: 9.18 % of the cells there", SECOND_BY_ROWS),
    ),
    "rank 1": (torch.arange(10) // 2 == 2, ("all in cells 4-5",)),
    "rank 3": (
        (torch.arange(2).reshape(2, 1, 1) == 1) & (torch.arange(8) >= 4).expand(1, 10, 8),
        ("all in dim 0 index 1, columns 4-7", SECOND_BY_COLUMNS),
    ),
    "rank 0": (torch.tensor(True), ("the only cell is bad",)),
}


@pytest.mark.parametrize("name", PLACES)
def test_where_bad_cells_lie(name):
    bad, lines = PLACES[name]
    assert bad_places(bad) == lines


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50 %"),
        (1e-9, "0.01 %"),
        (1 - 1e-9, "99.99 %"),
        (0.12345, "12.35 %"),
    ],
)
def test_a_share_is_rounded_but_never_to_nothing_or_all(share, text):
    assert percent(share) == text
