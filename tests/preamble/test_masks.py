"""Packed predicate masks."""

import pytest
import torch
from preamble.rendered import Script


@pytest.fixture(scope="module")
def script():
    return Script(("masks",))


def random_mask(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(sum(shape))) < 0.5


def packed_by_hand(row, count):
    """The bytes of a row: bit b of byte k is column 8 * k + b, where that is one of the first `count`."""
    width = -(-len(row) // 256) * 32
    return [sum(1 << b for b in range(8) if 8 * k + b < count and row[8 * k + b]) for k in range(width)]


@pytest.mark.parametrize("columns", [1, 7, 8, 19, 64, 255, 256, 257, 300])
@pytest.mark.parametrize("count", [None, 0, -3, 5, 1000])
def test_the_first_column_is_the_lowest_bit(script, columns, count):
    mask = random_mask(3, columns)
    packed = script["_pack_mask"](mask, count)
    assert packed.dtype == torch.uint8
    counted = columns if count is None else min(max(count, 0), columns)
    assert packed.tolist() == [packed_by_hand(row, counted) for row in mask.tolist()]


@pytest.mark.parametrize("columns", [1, 8, 19, 256, 300])
@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.uint32]
)
def test_unpacking_gives_the_mask_back(script, columns, dtype):
    mask = random_mask(4, columns)
    packed = script["_pack_mask"](mask).view(dtype)
    unpacked = script["_unpack_mask"](packed, columns)
    assert unpacked.dtype == torch.bool
    assert torch.equal(unpacked, mask)


def test_columns_beyond_the_packed_bits_are_false(script):
    packed = torch.tensor([[0b101]], dtype=torch.uint8)
    assert script["_unpack_mask"](packed, 10).tolist() == [[True, False, True] + [False] * 7]


def test_a_mask_of_more_axes_and_one_that_is_no_row_major_memory(script):
    mask = random_mask(2, 3, 40)
    assert torch.equal(script["_unpack_mask"](script["_pack_mask"](mask), 40), mask)
    packed = script["_pack_mask"](random_mask(4, 40))
    turned = packed.mT.contiguous().mT
    assert torch.equal(script["_unpack_mask"](turned, 40), script["_unpack_mask"](packed, 40))
