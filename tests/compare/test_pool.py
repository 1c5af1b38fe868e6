"""mapped_pool_ratio_allclose: pools of which a mapping names the written rows."""

import math

import pytest
import torch

from pypto_tmpl.golden import mapped_pool_ratio_allclose


def compare(actual, expected, mapping, shape=None, **options):
    mapping = torch.as_tensor(mapping, dtype=options.pop("mapping_dtype", torch.int64))
    options.setdefault("block_size", 2)
    comparator = mapped_pool_ratio_allclose("slots", mapping_shape=shape or tuple(mapping.shape), **options)
    return comparator(
        actual,
        expected,
        actual_outputs={},
        expected_outputs={},
        inputs={"slots": mapping},
        rtol=0.0,
        atol=0.5,
    )


def pool(*blocks):
    """A pool of blocks of two rows of three values, each row filled with one number."""
    return torch.tensor([[[float(row)] * 3 for row in block] for block in blocks])


def test_mapped_rows_are_compared_with_the_tolerance_of_the_run():
    """Row 3 is block 1, offset 1."""
    assert compare(pool((1, 2), (3, 4.5)), pool((1, 2), (3, 4)), [3]) == (True, "")
    passed, message = compare(pool((1, 2), (3, 5)), pool((1, 2), (3, 4)), [3])
    assert not passed
    assert message.startswith("    bad elements: 3/3 (100.0000%), allowed 0.5000% = 0  atol=0.5 rtol=0.0\n")
    assert compare(pool((1, 2), (3, 5)), pool((1, 2), (3, 4)), [3], atol=1.0) == (True, "")


def test_rows_that_are_not_mapped_must_be_equal():
    actual = pool((1, 2), (3, 4))
    actual[1, 0, 2] += 0.25
    actual[1, 0, 0] += 0.25
    assert compare(actual, pool((1, 2), (3, 4)), [3]) == (
        False,
        "    unmapped physical pool row changed: row=2 changed_values=2 mapping='slots'",
    )
    assert compare(actual, pool((1, 2), (3, 4)), [2]) == (True, "")
    assert compare(actual, pool((1, 2), (3, 4)), [0], pool_name="kv_cache")[1] == (
        "    unmapped physical kv_cache row changed: row=2 changed_values=2 mapping='slots'"
    )


def test_infinities_are_equal_and_nan_never_is_where_not_mapped():
    assert compare(pool((math.inf, 2), (3, 4)), pool((math.inf, 2), (3, 4)), [3]) == (True, "")
    nan = pool((math.nan, 2), (3, 4))
    assert compare(nan, nan.clone(), [3]) == (
        False,
        "    unmapped physical pool row changed: row=0 changed_values=3 mapping='slots'",
    )


def test_mapped_rows_must_be_finite():
    inf = pool((math.inf, 2), (3, 4))
    assert compare(inf, inf.clone(), [0]) == (
        False,
        "    illegal values in comparison: actual: NaN=0 Inf=3; expected: NaN=0 Inf=3",
    )


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_minus_one_names_no_row(dtype):
    assert compare(
        pool((1, 2), (3, 9)), pool((1, 2), (3, 4)), [[-1, 3], [-1, -1]], mapping_dtype=dtype, atol=5
    )[0]
    assert compare(pool((1, 2), (3, 4)), pool((1, 2), (3, 4)), [-1, -1]) == (True, "")
    assert not compare(pool((1, 2), (3, 5)), pool((1, 2), (3, 4)), [-1])[0]


def test_ranks_have_their_own_rows():
    actual = torch.stack([pool((1, 2)), pool((3, 4))])
    expected = actual.clone()
    actual[1, 0, 1] += 0.5
    ranked = {"leading_rank_axis": True}
    assert compare(actual, expected, [[0], [1]], **ranked) == (True, "")
    assert compare(actual, expected, [[1], [0]], **ranked) == (
        False,
        "    unmapped physical pool row changed: rank=1 row=1 changed_values=3 mapping='slots'",
    )
    assert compare(actual, expected, [[0, 1], [1, 1]], **ranked) == (
        False,
        "    mapping 'slots' rank=1 names row 1 more than once",
    )
    assert compare(actual, expected, [[0], [1], [0]], **ranked) == (
        False,
        "    pool has 2 ranks, mapping 'slots' 3",
    )


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        ([4], "mapping 'slots' names row 4, outside of [0, 4)"),
        ([-2], "mapping 'slots' names row -2, outside of [0, 4)"),
        ([1, 1], "mapping 'slots' names row 1 more than once"),
    ],
)
def test_rows_that_cannot_be(mapping, text):
    assert compare(pool((1, 2), (3, 4)), pool((1, 2), (3, 4)), mapping) == (False, f"    {text}")


def test_shapes_and_layouts():
    two = pool((1, 2), (3, 4))
    assert compare(two, two[:1], [0]) == (False, "    shape mismatch: actual (2, 2, 3), expected (1, 2, 3)")
    assert compare(two, two, [0], block_size=3) == (
        False,
        "    pool is (2, 2, 3), not [blocks, block_size, ...] with block_size=3",
    )
    assert compare(two[0, 0], two[0, 0], [0], block_size=3) == (
        False,
        "    pool is (3,), not [blocks, block_size, ...] with block_size=3",
    )
    assert compare(two, two, [0], shape=(2,)) == (False, "    mapping 'slots' is (1,), not (2,)")
    assert compare(two, two, [0], mapping_dtype=torch.float32) == (
        False,
        "    mapping 'slots' is torch.float32, not an integer tensor",
    )
    comparator = mapped_pool_ratio_allclose("slots", mapping_shape=(1,), block_size=2)
    assert comparator(two, two, inputs={"x": two}, rtol=0, atol=0) == (
        False,
        "    compare_fn misconfigured: mapping_name='slots' not found in inputs=['x']",
    )


def test_an_empty_pool_and_one_without_trailing_dimensions():
    empty = torch.zeros(0, 2, 3)
    assert compare(empty, empty, [-1]) == (True, "")
    plain = torch.tensor([[1, 2], [3, 4]], dtype=torch.int32)
    assert compare(plain, plain.clone(), [3]) == (True, "")
    narrow = pool((1, 2), (3, 4)).to(torch.float8_e4m3fn)
    assert compare(narrow, narrow.clone(), [3]) == (True, "")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mapping_shape": (), "block_size": 2}, "mapping_shape must have positive extents, got ()"),
        ({"mapping_shape": (2, 0), "block_size": 2}, "mapping_shape must have positive extents, got (2, 0)"),
        ({"mapping_shape": (2,), "block_size": 0}, "block_size must be > 0, got 0"),
        (
            {"mapping_shape": (2,), "block_size": 2, "leading_rank_axis": True},
            "mapping_shape with leading_rank_axis has two or more extents, got (2,)",
        ),
    ],
)
def test_constructions_that_make_no_sense(options, text):
    with pytest.raises(ValueError) as caught:
        mapped_pool_ratio_allclose("slots", **options)
    assert str(caught.value) == text
