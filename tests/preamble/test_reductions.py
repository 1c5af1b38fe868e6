"""Reductions of the valid elements."""

import pytest
import torch
from preamble.rendered import Script

INF, NAN = float("inf"), float("nan")


@pytest.fixture(scope="module")
def reduce_valid():
    return Script(("regions", "reductions"))["_reduce_valid"]


@pytest.fixture(scope="module")
def reduce_in_order():
    return Script(("regions", "reductions"))["_reduce_in_order"]


def poisoned(rows, columns, valid, dtype=torch.float32, poison=NAN):
    tile = -torch.arange(1, rows * columns + 1).reshape(rows, columns).to(dtype)
    outside = torch.ones(rows, columns, dtype=torch.bool)
    outside[: valid[0], : valid[1]] = False
    return torch.where(outside, torch.tensor(poison, dtype=dtype), tile)


@pytest.mark.parametrize(
    ("function", "column"),
    [
        (torch.sum, [-6.0, -18.0]),
        (torch.prod, [-6.0, -210.0]),
        (torch.amax, [-1.0, -5.0]),
        (torch.amin, [-3.0, -7.0]),
        (torch.argmax, [0, 0]),
        (torch.argmin, [2, 2]),
    ],
)
def test_padding_takes_no_part(reduce_valid, function, column):
    reduced = reduce_valid(function, poisoned(3, 4, [2, 3]), [2, 3])
    assert reduced.shape == (3, 1)
    assert reduced[:2, 0].tolist() == column


@pytest.mark.parametrize(
    ("function", "dtype", "identity"),
    [
        (torch.sum, torch.float32, 0.0),
        (torch.prod, torch.float32, 1.0),
        (torch.prod, torch.int16, 1),
        (torch.amax, torch.float32, -INF),
        (torch.amin, torch.bfloat16, INF),
        (torch.sum, torch.int32, 0),
        (torch.amax, torch.int32, -(2**31)),
        (torch.amin, torch.int8, 127),
    ],
)
@pytest.mark.parametrize("valid", [[3, 0], [0, 4], [3, -1]])
def test_no_valid_element_gives_the_identity(reduce_valid, function, dtype, identity, valid):
    reduced = reduce_valid(function, torch.full([3, 4], 5, dtype=dtype), valid)
    assert reduced.dtype == dtype
    assert reduced.tolist() == [[identity]] * 3


def test_the_whole_tile_and_another_axis(reduce_valid):
    tile = torch.arange(6.0).reshape(2, 3)
    assert reduce_valid(torch.sum, tile).tolist() == [[3.0], [12.0]]
    assert reduce_valid(torch.sum, tile, dim=0, keepdim=False).tolist() == [3.0, 5.0, 7.0]
    assert reduce_valid(torch.amax, tile, [1, 3], dim=0).tolist() == [[0.0, 1.0, 2.0]]


def test_16_bit_floats_accumulate_in_fp32(reduce_valid):
    """One at a time in BF16 the sum would stay at 256."""
    tile = torch.ones(1, 64, dtype=torch.bfloat16)
    tile[0, 0] = 256
    reduced = reduce_valid(torch.sum, tile, [1, 41])
    assert reduced.dtype == torch.bfloat16
    assert reduced.tolist() == [[296.0]]


@pytest.mark.parametrize(
    ("dtype", "total"), [(torch.int8, -56), (torch.uint8, 200), (torch.uint16, 200), (torch.int32, 200)]
)
def test_integers_wrap_in_their_own_width(reduce_valid, dtype, total):
    reduced = reduce_valid(torch.sum, torch.tensor([[100, 100, 7]], dtype=dtype), [1, 2])
    assert reduced.dtype == dtype
    assert reduced.tolist() == [[total]]


def test_uint32_beyond_the_signed_range(reduce_valid):
    tile = torch.tensor([[0x80000000, 0x80000001]], dtype=torch.uint32)
    assert reduce_valid(torch.amax, tile).tolist() == [[0x80000001]]
    assert reduce_valid(torch.sum, tile).tolist() == [[1]]


@pytest.mark.parametrize("row", [[NAN, 6.0, 8.0], [NAN, NAN, NAN]])
@pytest.mark.parametrize("function", [torch.amax, torch.amin, torch.sum])
def test_a_valid_nan_shows(reduce_valid, function, row):
    assert reduce_valid(function, torch.tensor([[*row, 1.0]]), [1, 3]).isnan().all()


@pytest.mark.parametrize("function", [torch.argmax, torch.argmin])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.uint32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("valid", [[3, 0], [0, 4], [3, 4], [2, 3]])
def test_the_first_index_among_equals_or_none(reduce_valid, function, dtype, valid):
    index = reduce_valid(function, torch.full([3, 4], 5).to(dtype), valid)
    assert index.dtype == torch.int64
    assert index.tolist() == [[0]] * 3


@pytest.mark.parametrize(("step", "last"), [(torch.add, 2048.0), (torch.mul, float("inf"))])
def test_a_16_bit_float_is_rounded_after_every_step(reduce_in_order, step, last):
    column = [[2048.0], [1.0], [1.0], [float("nan")]] if step is torch.add else [[300.0], [300.0], [0.001]]
    reduced = reduce_in_order(step, torch.tensor(column).half(), 3, 0)
    assert reduced.dtype == torch.float16
    assert reduced.tolist() == [[last]]


@pytest.mark.parametrize("count", [0, -1])
def test_no_element_in_order_gives_the_identity(reduce_in_order, count):
    tile = torch.full([2, 3], 5.0).bfloat16()
    assert reduce_in_order(torch.add, tile, count).tolist() == [[0.0]] * 2
    assert reduce_in_order(torch.mul, tile, count, 0, False).tolist() == [1.0] * 3


def test_one_element_in_order_is_a_copy(reduce_in_order):
    tile = torch.ones(1, 3).half()
    reduced = reduce_in_order(torch.add, tile, 1, 0, False)
    reduced[0] = 9.0
    assert tile.tolist() == [[1.0] * 3]
