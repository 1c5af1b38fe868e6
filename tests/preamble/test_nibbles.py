"""Elements of four bits in bytes: which half of which byte each is, longhand, and what is around it."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from preamble.rendered import load, render

from pypto_tmpl.codegen.options import ScriptOptions

NAMES = (
    "_pool", "_buf", "_boxes", "_unpack", "_pack", "_pack_part", "_box_window", "_window", "_write_tile",
    "_move_boxes", "_clobber", "_carry", "_INT4", "_UINT4", "_FP4",
)  # fmt: skip
HELPERS = load(render(*NAMES, options=ScriptOptions(storage=True)), "<helpers of four bits>")
NUMBERS = {
    "INT4": [0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1],
    "UINT4": [*range(16)],
    "FP4": [sign * size for sign in (1, -1) for size in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)],
}
"""What each code means."""
CARRIERS = {"INT4": torch.int8, "UINT4": torch.uint8, "FP4": torch.float8_e4m3fn}
DTYPES = [*NUMBERS]
LAYOUTS = ("NZ", "ZN", "ZZ", "NN")
FRACTALS = {512: (16, 64), 1024: (16, 16), 32: (16, 2)}
"""Rows and columns of a box: 512 bytes are 16 rows of 32 bytes."""


def value_of(dtype: str, codes: torch.Tensor) -> torch.Tensor:
    """The numbers of codes, as scripts compute with them."""
    return torch.tensor(NUMBERS[dtype])[codes].to(CARRIERS[dtype])


def random_codes(shape: tuple[int, ...], seed: int = 3) -> torch.Tensor:
    return torch.randint(0, 16, shape, generator=torch.Generator().manual_seed(seed))


def random_pool(size: int):
    """A pool of which each byte is something."""
    pool = HELPERS["_pool"](size)
    pool.copy_(torch.randint(0, 256, pool.shape, generator=torch.Generator().manual_seed(5)))
    return pool


def codes_in(pool) -> list[int]:
    """The codes in a pool: of a byte the low half first."""
    return [code for byte in pool.tolist() for code in (byte % 16, byte // 16)]


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal in shape, dtype and every bit."""
    bits = (value.contiguous().view(torch.uint8) for value in (left, right))
    return (left.shape, left.dtype) == (right.shape, right.dtype) and torch.equal(*bits)


def position(layout: str, box: tuple[int, int], shape: tuple[int, int], r: int, c: int) -> int:
    """The element of memory that (r, c) is, counted box by box."""
    (rows, columns), (height, width) = shape, box
    if layout[0] == "N":
        number = (c // width) * (rows // height) + r // height
    else:
        number = (r // height) * (columns // width) + c // width
    by_rows, by_columns = (r % height) * width + c % width, (c % width) * height + r % height
    return number * height * width + (by_rows if layout[1] == "Z" else by_columns)


def box_of(layout: str, fractal: int) -> tuple[int, int]:
    height, width = FRACTALS[fractal]
    return (height, width) if layout[1] == "Z" else (width, height)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_code_is_read_as_its_number_and_written_back(dtype: str) -> None:
    pool = HELPERS["_pool"](8)
    tile = HELPERS["_buf"](pool, 0, [1, 16], HELPERS[f"_{dtype}"])
    pool.copy_(torch.tensor([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]))
    got = tile.numbers()
    assert same(got, value_of(dtype, torch.arange(16).view(1, 16)))
    pool.zero_()
    tile.copy_(got)
    assert codes_in(pool) == [*range(16)]


@given(
    st.sampled_from(DTYPES), st.lists(st.integers(1, 7), min_size=1, max_size=3), st.integers(0, 9),
    st.sampled_from(["by rows", "by columns", "with gaps"]), st.integers(0, 3),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_elements_lie_in_halves_of_bytes(
    dtype: str, shape: list[int], address: int, order: str, gap: int
) -> None:
    """Rows may begin in the middle of a byte; what is around them stays as it is."""
    strides, step = [0] * len(shape), 1
    for axis in range(len(shape)) if order == "by columns" else reversed(range(len(shape))):
        strides[axis] = step
        step = step * shape[axis] + (gap if order == "with gaps" else 0)
    pool = random_pool(address + step // 2 + 2)
    before = codes_in(pool)
    is_given = order != "by rows"
    tile = HELPERS["_buf"](pool, address, shape, HELPERS[f"_{dtype}"], strides if is_given else None)
    cells = [*itertools.product(*map(range, shape))]
    places = [2 * address + sum(map(math.prod, zip(cell, strides, strict=True))) for cell in cells]
    held = torch.tensor([before[place] for place in places]).view(shape)
    assert same(tile.numbers(), value_of(dtype, held))
    codes = random_codes(tuple(shape))
    tile.copy_(value_of(dtype, codes))
    for cell, place in zip(cells, places, strict=True):
        before[place] = int(codes[cell])
    assert codes_in(pool) == before
    assert same(tile.numbers(), value_of(dtype, codes))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fractal", FRACTALS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_in_boxes_lie_where_the_layout_says(layout: str, fractal: int, dtype: str) -> None:
    height, width = box_of(layout, fractal)
    for boxes in ((1, 1), (2, 3), (3, 1), (1, 4)):
        shape = (boxes[0] * height, boxes[1] * width)
        pool = random_pool(64 + shape[0] * shape[1] // 2 + 8)
        tile = HELPERS["_boxes"](pool, 64, list(shape), HELPERS[f"_{dtype}"], layout, fractal)
        codes, want = random_codes(shape), codes_in(pool)
        HELPERS["_pack"](tile, value_of(dtype, codes))
        for r, c in itertools.product(range(shape[0]), range(shape[1])):
            want[128 + position(layout, (height, width), shape, r, c)] = int(codes[r, c])
        assert codes_in(pool) == want, boxes
        assert same(HELPERS["_unpack"](tile), value_of(dtype, codes))


@given(
    st.sampled_from(LAYOUTS), st.sampled_from([*FRACTALS]), st.sampled_from(DTYPES), st.integers(1, 3),
    st.integers(1, 3), st.integers(1, 3), st.data(),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_what_is_packed_is_unpacked(
    layout: str, fractal: int, dtype: str, down: int, across: int, stored: int, data: st.DataObject
) -> None:
    """With as many rows of boxes as there are, fewer (compact) or more (padded); also with rows cut off."""
    height, width = box_of(layout, fractal)
    rows = data.draw(st.integers((down - 1) * height + 1, down * height))
    columns = data.draw(st.integers((across - 1) * width + 1, across * width))
    pool = random_pool(stored * height * across * width // 2)
    kind = HELPERS[f"_{dtype}"]
    tile = HELPERS["_boxes"](pool, 0, [rows, columns], kind, layout, fractal, stored * height)
    codes, held = random_codes((rows, columns)), min(rows, stored * height)
    HELPERS["_pack_part"](tile, value_of(dtype, codes))
    seen = HELPERS["_unpack"](tile, [rows, columns])
    assert same(seen[:held], value_of(dtype, codes[:held]))
    assert not seen[held:].float().any()
    r, c = data.draw(st.integers(0, held - 1)), data.draw(st.integers(0, columns - 1))
    whole = (stored * height, across * width)
    assert codes_in(pool)[position(layout, (height, width), whole, r, c)] == int(codes[r, c])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("r", "c"), [*itertools.product((0, 1, 2), (0, 1, 3, 4))])
def test_a_window_begins_at_any_half_of_a_byte(dtype: str, r: int, c: int) -> None:
    """Of a tile with rows of an odd number of elements."""
    pool = random_pool(32)
    tile = HELPERS["_buf"](pool, 1, [5, 9], HELPERS[f"_{dtype}"])
    codes, new = random_codes((5, 9)), random_codes((3, 5), seed=7)
    tile.copy_(value_of(dtype, codes))
    window = HELPERS["_window"](tile, [r, c], [3, 5])
    inner = HELPERS["_window"](window, [1, 1], [2, 3])
    assert same(window.numbers(), value_of(dtype, codes[r : r + 3, c : c + 5]))
    assert same(inner.numbers(), value_of(dtype, codes[r + 1 : r + 3, c + 1 : c + 4]))
    HELPERS["_write_tile"](window, value_of(dtype, new))
    codes[r : r + 3, c : c + 5] = new
    assert same(tile.numbers(), value_of(dtype, codes))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["boxes", "rows of one", "part of one"])
def test_a_window_of_boxes_shows_their_cells(layout: str, kind: str) -> None:
    height, width = box_of(layout, 512)
    shape, codes = [2 * height, 2 * width], random_codes((2 * height, 2 * width))
    tile = HELPERS["_boxes"](HELPERS["_pool"](4 * height * width), 0, shape, HELPERS["_INT4"], layout)
    HELPERS["_pack"](tile, value_of("INT4", codes))
    (r, c), (rows, columns) = {
        "boxes": ((height, 0), (height, 2 * width)),
        "rows of one": ((3, width), (5, width)),
        "part of one": ((1, width + 3), (2, 7)),
    }[kind]
    window = HELPERS["_box_window"](tile, [r, c], [rows, columns])
    assert same(HELPERS["_unpack"](window), value_of("INT4", codes[r : r + rows, c : c + columns]))
    new = random_codes((rows, columns), seed=8)
    HELPERS["_pack"](window, value_of("INT4", new))
    codes[r : r + rows, c : c + columns] = new
    assert same(HELPERS["_unpack"](tile), value_of("INT4", codes))


@pytest.mark.parametrize(("source", "target"), [*itertools.product(LAYOUTS, LAYOUTS)])
def test_a_tile_is_moved_to_other_boxes(source: str, target: str) -> None:
    codes = random_codes((128, 192))
    tile = HELPERS["_boxes"](HELPERS["_pool"](128 * 96), 0, [128, 192], HELPERS["_FP4"], source)
    HELPERS["_pack"](tile, value_of("FP4", codes))
    rows, columns = box_of(target, 512)
    for r, c in [(0, 0), (64, 64), (16, 24), (3, 5)]:
        moved = HELPERS["_boxes"](HELPERS["_pool"](512), 0, [rows, columns], HELPERS["_FP4"], target)
        HELPERS["_move_boxes"](moved, tile, [r, c])
        assert same(HELPERS["_unpack"](moved), value_of("FP4", codes[r : r + rows, c : c + columns]))


def test_turned_letters_are_the_turned_tile() -> None:
    codes = random_codes((64, 128))
    pool = HELPERS["_pool"](64 * 64)
    HELPERS["_pack"](HELPERS["_boxes"](pool, 0, [64, 128], HELPERS["_INT4"], "NZ"), value_of("INT4", codes))
    seen = {
        layout: HELPERS["_unpack"](HELPERS["_boxes"](pool, 0, [128, 64], HELPERS["_INT4"], layout))
        for layout in LAYOUTS
    }
    assert [layout for layout in LAYOUTS if same(seen[layout], value_of("INT4", codes.T))] == ["ZN"]


def test_bytes_are_shared_with_other_dtypes() -> None:
    pool = HELPERS["_pool"](8)
    HELPERS["_buf"](pool, 0, [1, 2], torch.int32).copy_(torch.tensor([[0x76543210, -0x01234568]]))
    tile = HELPERS["_buf"](pool, 0, [2, 8], HELPERS["_UINT4"])
    assert tile.numbers().tolist() == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]


def test_a_tile_takes_what_lies_in_bytes_that_it_shares() -> None:
    """Both overlap by half: all is read before it is written."""
    pool, codes = HELPERS["_pool"](16), random_codes((1, 16))
    one, two = (HELPERS["_buf"](pool, at, [1, 16], HELPERS["_INT4"]) for at in (0, 4))
    one.copy_(value_of("INT4", codes))
    HELPERS["_write_tile"](two, one.numbers())
    assert same(two.numbers(), value_of("INT4", codes))


def test_tiles_are_carried_all_at_once() -> None:
    pool = HELPERS["_pool"](0x400)
    one, two = (HELPERS["_buf"](pool, at, [16, 64], HELPERS["_INT4"]) for at in (0, 0x200))
    codes = random_codes((2, 16, 64))
    one.copy_(value_of("INT4", codes[0]))
    two.copy_(value_of("INT4", codes[1]))
    HELPERS["_carry"]([one, two], [two.numbers(), one.numbers()])
    assert same(one.numbers(), value_of("INT4", codes[1]))
    assert same(two.numbers(), value_of("INT4", codes[0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_is_left_in_a_workspace(dtype: str) -> None:
    pool = HELPERS["_pool"](8)
    HELPERS["_clobber"](HELPERS["_buf"](pool, 2, [3, 3], HELPERS[f"_{dtype}"]))
    assert codes_in(pool) == [0] * 4 + [15] * 9 + [0] * 3


@pytest.mark.parametrize("address", [5, -1])
def test_a_tile_beyond_its_memory_is_refused(address: int) -> None:
    with pytest.raises(ValueError) as error:
        HELPERS["_buf"](HELPERS["_pool"](8), address, [1, 7], HELPERS["_FP4"])
    assert str(error.value) == f"a tile of FP4[1, 7] at {address:#x}, 4 bytes: the memory has 8"


def test_a_value_of_another_shape_is_refused() -> None:
    tile = HELPERS["_buf"](HELPERS["_pool"](64), 0, [2, 8], HELPERS["_INT4"])
    with pytest.raises(ValueError) as error:
        tile.copy_(torch.zeros(1, 8, dtype=torch.int8))
    assert str(error.value) == "a value [1, 8] for a tile [2, 8]"
