"""topk_pair_compare: which orders of indices are legal."""

import math

import pytest
import torch

from pypto_tmpl.golden import topk_pair_compare


def compare(actual, expected, scores, name="vals", **options):
    actual, expected, scores = (torch.as_tensor(t) for t in (actual, expected, scores))
    return topk_pair_compare("vals", **options)(
        actual,
        expected,
        actual_outputs={name: scores, "idx": actual},
        expected_outputs={},
        inputs={},
        rtol=0.0,
        atol=0.0,
    )


def test_equal_indices_pass_whatever_the_scores():
    assert compare([0, 3, 1], [0, 3, 1], [1.0, 2.0, 3.0]) == (True, "")


def test_indices_of_tied_scores_may_be_swapped():
    """Scores [3, 2, 2, 1]: expected [0, 1, 2], computed [0, 2, 1] with values [3, 2, 2]."""
    assert compare([0, 2, 1], [0, 1, 2], [3.0, 2.0, 2.0]) == (True, "")


def test_a_worse_scoring_pick_fails():
    """Computed [0, 3, 1] with values [3, 1, 2]: position 1 is below the one after it."""
    assert compare([0, 3, 1], [0, 1, 2], [3.0, 1.0, 2.0]) == (
        False,
        "    2 index mismatches with scores of 'vals' out of descending order\n"
        "    first 2:\n"
        "    [1] actual=3, expected=1, score=1.0, around it [3.0, 1.0, 2.0]\n"
        "    [2] actual=1, expected=2, score=2.0, around it [1.0, 2.0]",
    )


def test_only_differing_positions_are_looked_at():
    assert compare([5, 1, 2], [0, 1, 2], [3.0, 2.0, 9.0]) == (True, "")  # 2 < 9 is not next to position 0


def test_ascending():
    assert compare([1, 0], [0, 1], [1.0, 1.0], descending=False) == (True, "")
    assert compare([2, 0], [0, 2], [1.0, 2.0], descending=False) == (True, "")
    passed, message = compare([2, 0], [0, 2], [2.0, 1.0], descending=False)
    assert not passed
    assert message.startswith("    2 index mismatches with scores of 'vals' out of ascending order\n")


@pytest.mark.parametrize(
    ("dim", "place"), [(1, [0, 1, 0]), (-2, [0, 1, 0]), (0, [1, 0, 0]), (-3, [1, 0, 0])], ids=str
)
def test_another_dimension_has_coordinates_of_the_whole(dim, place):
    """Two top-3s side by side; in the first the pick 9 scores less than the one after it."""
    scores = torch.tensor([[[3.0, 3.0], [1.0, 2.0], [2.0, 1.0]]])
    actual = torch.tensor([[[0, 0], [9, 1], [1, 2]]])
    expected = torch.tensor([[[0, 0], [1, 1], [1, 2]]])
    if dim in (0, -3):
        scores, actual, expected = (t.movedim(1, 0) for t in (scores, actual, expected))
    assert compare(actual, expected, scores, dim=dim) == (
        False,
        "    1 index mismatches with scores of 'vals' out of descending order\n"
        "    first 1:\n"
        f"    {place} actual=9, expected=1, score=1.0, around it [3.0, 1.0, 2.0]",
    )


def test_one_pick_alone_may_differ():
    assert compare([[4], [2]], [[1], [2]], [[0.5], [0.5]]) == (True, "")


def test_a_nan_neighbour_is_out_of_order():
    passed, message = compare([1, 0], [0, 1], [math.nan, 1.0])
    assert not passed
    assert "[1] actual=0, expected=1, score=1.0, around it [nan, 1.0]" in message


def test_index_dtypes_may_differ():
    expected = torch.tensor([0, 1, 2])
    assert compare(expected.int(), expected, [3.0, 2.0, 1.0]) == (True, "")
    assert compare(expected.to(torch.uint8), expected, [3, 2, 1]) == (True, "")


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_nothing_to_compare_passes(shape):
    empty = torch.zeros(shape, dtype=torch.int32)
    assert compare(empty, empty, empty.float()) == (True, "")


def test_errors_are_failures():
    assert compare([0], [0], [1.0], name="values") == (
        False,
        "    compare_fn misconfigured: vals_name='vals' not found in actual outputs=['idx', 'values']",
    )
    assert compare([0, 1], [0], [1.0]) == (False, "    index shape mismatch: actual (2,), expected (1,)")
    assert compare([0, 1], [0, 1], [[1.0, 2.0]]) == (
        False,
        "    index and value shapes differ: indices (2,), 'vals' (1, 2)",
    )
    assert compare([0, 1], [0, 1], [1.0, 2.0], dim=1) == (
        False,
        "    dim=1 out of range for indices of 1 dimensions",
    )
    assert compare(0, 1, 2.0) == (False, "    dim=-1 out of range for indices of 0 dimensions")


def test_only_so_many_places_are_shown():
    passed, message = compare([3, 2, 1, 0], [0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0], max_show=1)
    assert len(message.splitlines()) == 3


def test_the_name():
    assert topk_pair_compare("vals").__name__ == "topk_pair_compare"
