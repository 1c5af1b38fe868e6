"""Where a split cuts a tile, and how the parts of two lanes are joined."""

from dataclasses import replace

import pytest
import torch
from preamble.rendered import Script, load, preamble

from pypto_tmpl.codegen.pipe_use import EVERY_USE


@pytest.fixture(scope="module")
def script():
    return Script(("tile_split",))


def numbered(rows, columns, dtype=torch.float32):
    return torch.arange(rows * columns).reshape(rows, columns).to(dtype)


def both_parts(script, tile, code, lane_stride=None, valid=None):
    stride = script["_lane_stride"]("op", tile, code, lane_stride)
    valid = valid or [*tile.shape]
    return [script["_lane_part"](tile, code, lane, stride, valid) for lane in (0, 1)]


@pytest.mark.parametrize(
    ("split", "code"),
    [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (None, 0), ("0", 0), ("3", 3)],
)
def test_split_codes(script, split, code):
    assert script["_split_mode_to_int"](split) == code


@pytest.mark.parametrize("split", [-1, 5, 1.0, True, "UP_DOWN", "", "-1", [1], object])
def test_anything_else_is_no_split_code(script, split):
    with pytest.raises(ValueError) as caught:
        script["_split_mode_to_int"](split)
    expected = f"split must be 0 (none), 1 or 3 (dim 0), 2 or 4 (dim 1), not {split!r}"
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("box", "valid", "stride", "extents"),
    [
        (16, 16, None, [8, 8]),
        (16, 5, None, [5, 0]),
        (16, 8, None, [8, 0]),
        (16, 9, None, [8, 1]),
        (16, 13, None, [8, 5]),
        (16, 13, 7, [7, 6]),
        (16, 0, None, [0, 0]),
        (15, 15, None, [8, 7]),
        (24, 14, 7, [7, 7]),
        (16, 16, 7, [7, 7]),
        (1, 1, None, [1, 0]),
    ],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_lane_extents(script, box, valid, stride, extents, axis):
    tile = numbered(box, 4) if axis == 0 else numbered(4, box)
    region = [4, 4]
    region[axis] = valid
    parts = both_parts(script, tile, 1 + axis, stride, region)
    for part, extent in zip(parts, extents, strict=True):
        assert part.shape[axis] == (box + 1) // 2
        assert script["_region"](part)[axis] == extent
        assert script["_region"](part)[1 - axis] == 4


def test_rows_of_an_odd_box_are_padded_with_zeros(script):
    first, second = both_parts(script, numbered(3, 2), 3)
    assert first.tolist() == [[0, 1], [2, 3]]
    assert second.tolist() == [[4, 5], [0, 0]]
    assert not hasattr(first, "_pypto_valid_shape")
    assert second._pypto_valid_shape == [1, 2]


def test_columns_with_a_stride(script):
    first, second = both_parts(script, numbered(1, 8), 2, 3, [1, 5])
    assert first[:, :3].tolist() == [[0, 1, 2]]
    assert second[:, :2].tolist() == [[3, 4]]
    assert (first._pypto_valid_shape, second._pypto_valid_shape) == ([1, 3], [1, 2])


def test_the_other_extent_is_kept(script):
    first, second = both_parts(script, numbered(4, 8), 1, None, [3, 5])
    assert (first._pypto_valid_shape, second._pypto_valid_shape) == ([2, 5], [1, 5])


@pytest.mark.parametrize("dtype", [torch.int8, torch.bfloat16, torch.bool, torch.float8_e4m3fn])
def test_parts_keep_the_dtype(script, dtype):
    for part in both_parts(script, numbered(3, 2, dtype), 3):
        assert part.dtype == dtype


def test_parts_are_copies(script):
    tile = numbered(4, 2)
    parts = both_parts(script, tile, 1)
    tile.zero_()
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


@pytest.mark.parametrize("stride", [0, -1, 9])
def test_a_stride_outside_the_half_box(script, stride):
    with pytest.raises(ValueError) as caught:
        script["_lane_stride"]("push_to_aiv", numbered(16, 4), 1, stride)
    assert str(caught.value) == (
        f"push_to_aiv(split=1): lane_stride {stride} is not in 1..8 for the extent 16 of dim 0"
    )


def test_a_tile_without_the_axis(script):
    with pytest.raises(ValueError) as caught:
        script["_lane_stride"]("push_to_aiv", torch.zeros(16), 2, None)
    assert str(caught.value) == "push_to_aiv(split=2): a tile of shape [16] has no dim 1"


@pytest.mark.parametrize(
    ("extents", "valid", "regions"),
    [
        # extents of both boxes, valid regions of both lanes, region of the whole
        ([2, 3], ([2, 3], [2, 3]), [4, 3]),
        ([2, 3], ([2, 3], [1, 3]), [3, 3]),
        ([2, 3], ([2, 3], [0, 3]), [2, 3]),
        ([2, 3], ([1, 3], [0, 3]), [1, 3]),
        ([2, 3], ([2, 2], [1, 2]), [3, 2]),
        ([2, 3], ([0, 0], [0, 0]), [0, 0]),
        ([2, 3], ([2, 3], [0, 0]), [2, 3]),
    ],
)
def test_joined_rows(script, extents, valid, regions):
    parts = [script["_with_region"](torch.full(extents, float(n)), v) for n, v in enumerate(valid)]
    whole = script["_merge_lanes"]("pop_from_aiv", parts, 1)
    assert whole.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]]
    assert script["_region"](whole) == regions
    assert hasattr(whole, "_pypto_valid_shape") == (regions != [4, 3])


def test_joined_columns(script):
    parts = [torch.tensor([[1.0, 2.0]]), script["_with_region"](torch.tensor([[3.0, 4.0]]), [1, 1])]
    whole = script["_merge_lanes"]("pop_from_aiv", parts, 2)
    assert whole.tolist() == [[1, 2, 3, 4]]
    assert whole._pypto_valid_shape == [1, 3]


@pytest.mark.parametrize(
    ("first", "second"), [([1, 3], [1, 3]), ([0, 3], [2, 3]), ([2, 2], [2, 3]), ([0, 0], [1, 1])]
)
def test_valid_parts_that_are_no_rectangle(script, first, second):
    parts = [script["_with_region"](torch.zeros(2, 3), valid) for valid in (first, second)]
    with pytest.raises(RuntimeError) as caught:
        script["_merge_lanes"]("pop_from_aiv", parts, 1)
    assert str(caught.value) == (
        f"pop_from_aiv(split=1): the valid extents {first} of lane 0 and {second} of lane 1"
        " in boxes of [2, 3] are not one rectangle"
    )


@pytest.mark.parametrize("other", [torch.zeros(1, 3), torch.zeros(2, 3, dtype=torch.float16)])
def test_parts_that_do_not_fit(script, other):
    with pytest.raises(ValueError) as caught:
        script["_merge_lanes"]("pop_from_aiv", [torch.zeros(2, 3), other], 1)
    assert str(caught.value) == (
        "pop_from_aiv(split=1): lanes 0 and 1 bring different tiles:"
        f" [2, 3] of torch.float32 and {[*other.shape]} of {other.dtype}"
    )


def test_valid_extents(script):
    valid_extents, tile = script["_valid_extents"], torch.zeros(4, 6)
    assert valid_extents("op", tile, None) == [4, 6]
    assert valid_extents("op", tile, (3, torch.tensor(2))) == [3, 2]
    assert valid_extents("op", tile, [9, -1]) == [4, 0]
    with pytest.raises(ValueError) as caught:
        valid_extents("push_to_aic", tile, [3])
    assert str(caught.value) == "push_to_aic: valid_shape [3] for a tile of shape [4, 6]"


# ---- scripts whose tiles are whole, and cut by even splits


ODD = "split {} needs an even extent, {} is the odd one"


@pytest.fixture(scope="module")
def plain():
    chosen = preamble(pipes=replace(EVERY_USE, regions=False)).closure(["_lane_parts", "_merge_lanes"])
    assert chosen.names == ("_lane_parts", "_merge_lanes")
    return load("\n\n".join(["import torch", *chosen.segments]), "<plain>")


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize(("code", "shapes"), [(1, [2, 6]), (2, [4, 3])])
def test_whole_tiles_are_halved_and_joined(plain, code, shapes, copy):
    tile = numbered(4, 6)
    parts = plain["_lane_parts"]("op", tile, code, copy)
    assert [[*part.shape] for part in parts] == [shapes, shapes]
    assert torch.equal(plain["_merge_lanes"]("op", parts, code), tile)
    parts[0].zero_()
    assert (tile[0, 0:3].sum().item() == 3) == copy


@pytest.mark.parametrize(
    ("code", "tile", "problem"),
    [
        (1, torch.zeros(3, 4), f"dim 0 of a tile of shape [3, 4] is odd; {ODD.format(1, 3)}"),
        (2, torch.zeros(4, 3), f"dim 1 of a tile of shape [4, 3] is odd; {ODD.format(2, 4)}"),
        (2, torch.zeros(4), "a tile of shape [4] has no dim 1"),
    ],
)
def test_the_halves_of_a_tile_that_has_none(plain, script, code, tile, problem):
    for lane_parts in (lambda *args: plain["_lane_parts"](*args, False), script["_lane_parts"]):
        with pytest.raises(ValueError) as caught:
            lane_parts("tpush_to_aiv", tile, code)
        assert str(caught.value) == f"tpush_to_aiv(split={code}): {problem}"


def test_whole_parts_that_differ(plain):
    with pytest.raises(ValueError) as caught:
        plain["_merge_lanes"]("tpop_from_aiv", [torch.zeros(2, 3), torch.zeros(2, 4)], 1)
    different = "[2, 3] of torch.float32 and [2, 4] of torch.float32"
    assert str(caught.value) == f"tpop_from_aiv(split=1): lanes 0 and 1 bring different tiles: {different}"
