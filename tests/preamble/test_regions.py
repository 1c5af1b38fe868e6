"""Loads, stores, windows and padding. Expected values come from loops over single cells."""

import itertools
import threading

import pytest
import torch
from preamble.rendered import Script

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


@pytest.fixture(scope="module")
def script():
    return Script(("regions",))


def numbered(*shape, dtype=torch.float32):
    """1, 2, 3, ...: no cell is zero."""
    count = torch.tensor(shape).prod()
    return torch.arange(1, count + 1).reshape(shape).to(dtype)


def loaded(tensor, offsets, shape, valid=None):
    """The tile of a load, cell by cell; the window lies on the trailing axes."""
    rank = tensor.dim()
    offsets = [0] * (rank - len(offsets)) + [*offsets]
    lead = rank - len(shape)
    tile = torch.zeros(shape, dtype=tensor.dtype)
    for cell in itertools.product(*map(range, shape)):
        at = [o + c for o, c in zip(offsets, (0,) * lead + cell, strict=True)]
        is_inside = all(0 <= a < extent for a, extent in zip(at, tensor.shape, strict=True))
        is_valid = all(c < v for c, v in zip(cell, valid or shape, strict=True))
        if is_inside and is_valid:
            tile[cell] = tensor[tuple(at)]
    return tile


def stored(tile, offsets, tensor, valid=None, *, add=False):
    """The tensor after a store, cell by cell; the tile lies on the trailing axes."""
    lead = tensor.dim() - tile.dim()
    offsets = [0] * (tensor.dim() - len(offsets)) + [*offsets]
    result = tensor.clone()
    for cell in itertools.product(*map(range, tile.shape)):
        at = tuple(o + c for o, c in zip(offsets, (0,) * lead + cell, strict=True))
        is_inside = all(0 <= a < extent for a, extent in zip(at, tensor.shape, strict=True))
        if is_inside and all(c < v for c, v in zip(cell, valid or tile.shape, strict=True)):
            result[at] = result[at] + tile[cell] if add else tile[cell]
    return result


OFFSETS = [(0, 0), (2, 3), (6, 5), (-2, 0), (1, -3), (-9, 0), (8, 0), (20, 20), (-4, -6)]
VALID = [None, (4, 6), (3, 5), (0, 6), (4, 0), (-2, 6), (9, 9)]


@pytest.mark.parametrize("valid", VALID)
@pytest.mark.parametrize("offsets", OFFSETS)
def test_a_load_keeps_its_place(script, offsets, valid):
    tensor = numbered(8, 7)
    tile = script["_tile_load"](tensor, [*offsets], [4, 6], valid and [*valid])
    assert torch.equal(tile, loaded(tensor, offsets, [4, 6], valid))


@pytest.mark.parametrize("valid", VALID)
@pytest.mark.parametrize("offsets", OFFSETS)
@pytest.mark.parametrize(("name", "add"), [("_tile_store", False), ("_tile_store_add", True)])
def test_a_store_drops_what_falls_outside(script, name, add, offsets, valid):
    tensor, tile = torch.full([8, 7], 9.0), numbered(4, 6)
    expected = stored(tile, offsets, tensor, valid, add=add)
    returned = script[name](tile, [*offsets], tensor, valid and [*valid])
    assert returned is tensor
    assert torch.equal(tensor, expected)


@pytest.mark.parametrize("valid", [None, (3, 5)])
@pytest.mark.parametrize("offsets", [(1, 2, 3), (1, 6, 5), (-1, 0, 0), (3, 0, 0), (2, -1, 2)])
def test_a_window_of_lower_rank_lies_on_the_trailing_axes(script, offsets, valid):
    tensor = numbered(3, 8, 7)
    tile = script["_tile_load"](tensor, [*offsets], [4, 6], valid and [*valid])
    assert torch.equal(tile, loaded(tensor, offsets, [4, 6], valid))
    target = torch.full([3, 8, 7], 9.0)
    expected = stored(numbered(4, 6), offsets, target, valid)
    script["_tile_store"](numbered(4, 6), [*offsets], target, valid and [*valid])
    assert torch.equal(target, expected)


def test_a_window_of_higher_rank_has_leading_extents_of_1(script):
    tensor = numbered(8)
    assert script["_tile_load"](tensor, [0, 5], [1, 4]).tolist() == [[6.0, 7.0, 8.0, 0.0]]
    script["_tile_store"](torch.tensor([[1.0, 2.0]]), [0, 3], tensor)
    assert tensor.tolist() == [1.0, 2.0, 3.0, 1.0, 2.0, 6.0, 7.0, 8.0]


def test_offset_60_of_64_is_not_moved(script):
    x = torch.arange(64.0).reshape(1, 64)
    tile = script["_tile_load"](x, [0, 60], [1, 8])
    assert tile.tolist() == [[60.0, 61.0, 62.0, 63.0, 0.0, 0.0, 0.0, 0.0]]
    out = torch.full([1, 64], -1.0)
    script["_tile_store"](torch.ones(1, 8), [0, 60], out)
    assert out.sum() == -60.0 + 4.0


def test_a_load_is_a_copy(script):
    tensor = numbered(4, 4)
    tile = script["_tile_load"](tensor, [0, 0], [4, 4])
    tile.zero_()
    assert torch.equal(tensor, numbered(4, 4))


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bfloat16],
)
def test_any_dtype_moves(script, dtype):
    tensor = torch.arange(12).reshape(3, 4).to(dtype)
    tile = script["_tile_load"](tensor, [1, 1], [2, 4], [2, 2])
    assert tile.dtype == dtype
    assert tile.long().tolist() == [[int(bool(v)) if dtype == torch.bool else v for v in row]
                                    for row in ([5, 6, 0, 0], [9, 10, 0, 0])]  # fmt: skip
    out = torch.zeros(3, 4, dtype=dtype)
    script["_tile_store"](tile, [0, 0], out, [1, 2])
    assert out.long().count_nonzero() == 2


def test_a_store_rounds_half_to_even(script):
    out = torch.zeros(4, dtype=torch.bfloat16)
    script["_tile_store"](torch.tensor([1.01953125, 1.01171875, -1.01953125, 3.0e38]), [0], out)
    assert out.tolist()[:3] == [1.015625, 1.015625, -1.015625]


def test_a_flat_tile_is_stored_as_a_block_row_by_row(script):
    """5 valid rows of 2 in blocks of 3 rows: the valid cells are no rectangle of the block."""
    tile = numbered(6, 2)
    out = torch.full([3, 4, 2], 9.0)
    returned = script["_tile_store_block"](tile, [1, 0, 0], out, [2, 3, 2], [5, 2])
    expected = torch.full([3, 4, 2], 9.0)
    expected[1, :3] = tile[:3]
    expected[2, :2] = tile[3:5]
    assert returned is out
    assert torch.equal(out, expected)


def test_a_block_drops_what_falls_outside(script):
    tile = numbered(6, 2)
    out = torch.full([3, 4, 2], 9.0)
    script["_tile_store_block"](tile, [2, 2, 1], out, [2, 3, 2], [6, 1])
    expected = torch.full([3, 4, 2], 9.0)
    expected[2, 2, 1], expected[2, 3, 1] = tile[0, 0], tile[1, 0]
    assert torch.equal(out, expected)


def test_adding_takes_the_dtype_of_the_tensor_first(script):
    out = torch.tensor([256.0], dtype=torch.bfloat16)
    script["_tile_store_add"](torch.tensor([0.9990234375]), [0], out)  # rounds to 1, 257 to 256
    assert out.tolist() == [256.0]
    whole = torch.tensor([100], dtype=torch.int8)
    script["_tile_store_add"](torch.tensor([100], dtype=torch.int8), [0], whole)
    assert whole.tolist() == [-56]


def test_threads_that_add_to_the_same_cells_lose_nothing(script):
    out, ones = torch.zeros(64, 64), torch.ones(64, 64)
    add = script["_tile_store_add"]
    threads = [threading.Thread(target=lambda: [add(ones, [0, 0], out) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torch.equal(out, torch.full([64, 64], 400.0))


def test_assembling_changes_the_target_in_place(script):
    target = torch.full([4, 4], 9.0)
    returned = script["_assemble"](target, numbered(2, 3), [1, 2], [2, 1])
    assert returned is target
    assert target.tolist() == [[9, 9, 9, 9], [9, 9, 1, 9], [9, 9, 4, 9], [9, 9, 9, 9]]
    assert script["_assemble_add"](target, numbered(2, 3), [1, 2], [2, 1]) is target
    assert target.tolist() == [[9, 9, 9, 9], [9, 9, 2, 9], [9, 9, 8, 9], [9, 9, 9, 9]]


def test_a_slice_is_a_copy_of_the_full_shape(script):
    tensor = numbered(4, 4)
    part = script["_tensor_slice"](tensor, [2, 3], [3, 2], [2, 3])
    assert part.tolist() == [[15, 16, 0], [0, 0, 0]]
    part.zero_()
    assert torch.equal(tensor, numbered(4, 4))


def test_a_window_shares_storage_and_ends_where_the_tensor_ends(script):
    tensor = numbered(4, 4)
    part = script["_tensor_window"](tensor, [2, 3], [3, 2])
    assert part.tolist() == [[15, 16]]
    part.zero_()
    assert tensor[3].tolist() == [13, 14, 0, 0]
    assert script["_tensor_window"](tensor, [2, 2], [9, 0]).shape == (0, 2)


def test_a_window_that_starts_before_0_is_a_padded_copy(script):
    assert script["_tensor_window"](numbered(4, 4), [2, 2], [-1, 0]).tolist() == [[0, 0], [1, 2]]


def test_a_tile_slice_shares_storage_unless_it_leaves_the_tile(script):
    tile = numbered(4, 4)
    part = script["_tile_slice"](tile, [2, 2], [2, 1])
    part.zero_()
    assert tile.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 0, 0, 12], [13, 0, 0, 16]]
    assert script["_tile_slice"](tile, [2, 2], [3, 3]).tolist() == [[16, 0], [0, 0]]
    assert script["_tile_slice"](tile, [2, 2], [-1, 3]).tolist() == [[0, 0], [4, 0]]


@pytest.mark.parametrize(
    ("dtype", "pad", "number"),
    [
        (torch.float32, "zero", 0.0),
        (torch.float32, "min", float("-inf")),
        (torch.float16, "max", float("inf")),
        (torch.bfloat16, "min", float("-inf")),
        (torch.int32, "min", INT_MIN),
        (torch.int32, "max", INT_MAX),
        (torch.int8, "max", 127),
        (torch.uint8, "min", 0),
        (torch.uint16, "max", 65535),
        (torch.uint32, "max", 2**32 - 1),
    ],
)
def test_fillpad_fills_what_lies_outside_the_region(script, dtype, pad, number):
    tile = numbered(3, 4, dtype=dtype)
    padded = script["_fillpad"](tile, pad, [2, 3])
    assert padded.dtype == dtype
    assert padded.tolist() == [[1, 2, 3, number], [5, 6, 7, number], [number] * 4]
    assert tile.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]


@pytest.mark.parametrize("valid", [[0, 4], [3, 0], [-1, 4], [3, -2]])
def test_fillpad_of_an_empty_region_fills_everything(script, valid):
    assert script["_fillpad"](numbered(3, 4), "zero", valid).count_nonzero() == 0


def test_a_block_is_laid_at_offsets_that_are_tensors(script):
    """As numbers that a caller has as tensors come out of arithmetic."""
    target = torch.zeros(4, 2)
    script["_tile_store"](torch.ones(2, 2), [torch.tensor(1), 0], target)
    assert target.tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]
