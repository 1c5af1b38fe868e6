"""Tiles as views of bytes: where each element of a layout lies, longhand, and what is refused."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from preamble.rendered import load, render

from pypto_tmpl.codegen.options import ScriptOptions

NAMES = (
    "_pool", "_buf", "_boxes", "_unpack", "_pack", "_pack_part", "_box_window", "_window", "_write_tile",
    "_move_boxes", "_Slots", "_clobber", "_as_boxes", "_carry", "_matmul_boxes",
)  # fmt: skip
HELPERS = load(render(*NAMES, options=ScriptOptions(storage=True)), "<storage helpers>")
DTYPES = (
    torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int8, torch.uint8, torch.int64,
    torch.int16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu,
)  # fmt: skip
LAYOUTS = ("NZ", "ZN", "ZZ", "NN")


def box_of(layout: str, fractal: int, size: int) -> tuple[int, int]:
    """Rows and columns of a box: 512 bytes, 16 by 16 elements, or 16 by 2; turned where columns run first."""
    long, short = 16, {512: 32 // size, 1024: 16, 32: 2}[fractal]
    return (long, short) if layout[1] == "Z" else (short, long)


def position(layout: str, fractal: int, size: int, shape: tuple[int, int], r: int, c: int) -> int:
    """The element of memory that (r, c) is, counted box by box."""
    (rows, columns), (height, width) = shape, box_of(layout, fractal, size)
    if layout[0] == "N":
        box = (c // width) * (rows // height) + r // height
    else:
        box = (r // height) * (columns // width) + c // width
    by_rows, by_columns = (r % height) * width + c % width, (c % width) * height + r % height
    return box * height * width + (by_rows if layout[1] == "Z" else by_columns)


def random_value(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Elements of random bytes, so that floats are NaNs now and then."""
    generator = torch.Generator().manual_seed(3)
    cells = [*shape[:-1], shape[-1] * dtype.itemsize]
    return torch.randint(0, 256, cells, generator=generator, dtype=torch.uint8).view(dtype)


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal in shape and in every bit."""
    bits = (value.contiguous().view(torch.uint8) for value in (left, right))
    return left.shape == right.shape and torch.equal(*bits)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fractal", [512, 1024, 32])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_lie_where_the_layout_says(layout: str, fractal: int, dtype: torch.dtype) -> None:
    size = dtype.itemsize
    height, width = box_of(layout, fractal, size)
    for boxes in ((1, 1), (2, 3), (4, 1), (1, 5)):
        shape = (boxes[0] * height, boxes[1] * width)
        value = random_value(shape, dtype)
        pool = HELPERS["_pool"](64 + value.numel() * size)
        tile = HELPERS["_boxes"](pool, 64, list(shape), dtype, layout, fractal)
        HELPERS["_pack"](tile, value)
        assert same(HELPERS["_unpack"](tile), value)
        memory = pool[64 : 64 + value.numel() * size].view(dtype)
        places = [
            position(layout, fractal, size, shape, r, c)
            for r, c in itertools.product(range(shape[0]), range(shape[1]))
        ]
        assert sorted(places) == [*range(value.numel())]
        assert same(memory[torch.tensor(places)].view(shape), value), boxes


@given(
    st.sampled_from(LAYOUTS), st.sampled_from([512, 1024, 32]), st.sampled_from(DTYPES), st.integers(1, 4),
    st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.data(),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_what_is_packed_is_unpacked(
    layout: str,
    fractal: int,
    dtype: torch.dtype,
    down: int,
    across: int,
    rows: int,
    start: int,
    data: st.DataObject,
) -> None:
    """For every layout, with as many rows of boxes as there are, fewer (compact) or more (padded)."""
    size = dtype.itemsize
    height, width = box_of(layout, fractal, size)
    shape, stored = (down * height, across * width), (rows * height, across * width)
    value = random_value(shape, dtype)
    pool = HELPERS["_pool"](start * 64 + stored[0] * stored[1] * size)
    tile = HELPERS["_boxes"](pool, start * 64, list(shape), dtype, layout, fractal, rows * height)
    pool.fill_(1)
    HELPERS["_pack_part" if rows != down else "_pack"](tile, value)
    held = min(shape[0], stored[0])
    assert same(HELPERS["_unpack"](tile, list(shape))[:held], value[:held])
    memory = pool[start * 64 :].view(dtype)
    r = data.draw(st.integers(0, held - 1))
    c = data.draw(st.integers(0, shape[1] - 1))
    at = position(layout, fractal, size, stored, r, c)
    assert same(memory[at : at + 1], value[r, c : c + 1])
    assert bool((pool[: start * 64] == 1).all())


@pytest.mark.parametrize("boxes", [(1, 1), (2, 1), (1, 3)])
@pytest.mark.parametrize(("source", "target"), [*itertools.product(LAYOUTS, LAYOUTS)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_a_tile_is_moved_to_other_boxes(
    source: str, target: str, dtype: torch.dtype, boxes: tuple[int, int]
) -> None:
    value = random_value((96, 160), dtype)
    tile = HELPERS["_boxes"](HELPERS["_pool"](96 * 160 * 4), 0, [96, 160], dtype, source)
    HELPERS["_pack"](tile, value)
    height, width = box_of(target, 512, dtype.itemsize)
    rows, columns = boxes[0] * height, boxes[1] * width
    for r, c in [(0, 0), (32, 64), (16, 24), (3, 5)]:
        moved = HELPERS["_boxes"](HELPERS["_pool"](96 * 160 * 4), 0, [rows, columns], dtype, target)
        HELPERS["_move_boxes"](moved, tile, [r, c])
        assert same(HELPERS["_unpack"](moved), value[r : r + rows, c : c + columns])


@pytest.mark.parametrize("shape", [[5, 9], [16, 8], [17, 24], [40, 1]])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tile_that_does_not_fill_its_boxes_keeps_its_cells(layout: str, shape: list[int]) -> None:
    value = random_value(tuple(shape), torch.float32)
    pool = HELPERS["_pool"](64 * 64 * 4)
    tile = HELPERS["_boxes"](pool, 0, shape, torch.float32, layout)
    HELPERS["_pack_part"](tile, value)
    assert same(HELPERS["_unpack"](tile, shape), value)


def test_turned_letters_are_the_turned_tile() -> None:
    value = random_value((32, 16), torch.float32)
    pool = HELPERS["_pool"](value.numel() * 4)
    HELPERS["_pack"](HELPERS["_boxes"](pool, 0, [32, 16], torch.float32, "NZ"), value)
    seen = {
        layout: HELPERS["_unpack"](HELPERS["_boxes"](pool, 0, [16, 32], torch.float32, layout))
        for layout in LAYOUTS
    }
    assert [layout for layout in LAYOUTS if same(seen[layout], value.T)] == ["ZN"]


def test_a_compact_tile_has_columns_of_fewer_boxes() -> None:
    """Of 48 rows 10 count: the second column of boxes begins 16 rows behind the first."""
    value = random_value((48, 32), torch.float32)
    pool = HELPERS["_pool"](48 * 32 * 4)
    tile = HELPERS["_boxes"](pool, 0, [48, 32], torch.float32, "NZ", 1024, rows=16)
    HELPERS["_pack_part"](tile, value)
    memory = pool.view(torch.float32)
    assert memory[0] == value[0, 0]
    assert memory[16 * 16] == value[0, 16]
    assert not memory[16 * 32 :].any()
    seen = HELPERS["_unpack"](tile, [48, 32])
    assert same(seen[:16], value[:16])
    assert not seen[16:].any()


@pytest.mark.parametrize(
    ("offsets", "shape"), [([0, 8], [32, 16]), ([16, 0], [16, 8]), ([3, 8], [4, 8]), ([16, 2], [16, 3])]
)
def test_a_window_of_boxes_shows_their_cells(offsets: list[int], shape: list[int]) -> None:
    value = random_value((32, 24), torch.float32)
    pool = HELPERS["_pool"](value.numel() * 4)
    tile = HELPERS["_boxes"](pool, 0, [32, 24], torch.float32, "NZ")
    HELPERS["_pack"](tile, value)
    window = HELPERS["_box_window"](tile, offsets, shape)
    (r, c), (rows, columns) = offsets, shape
    assert same(HELPERS["_unpack"](window), value[r : r + rows, c : c + columns])
    HELPERS["_pack"](window, torch.full(shape, 7.0))
    value[r : r + rows, c : c + columns] = 7
    assert same(HELPERS["_unpack"](tile), value)


@pytest.mark.parametrize(("offsets", "shape"), [([8, 0], [16, 8]), ([0, 20], [16, 8]), ([-16, 0], [16, 8])])
def test_a_window_across_boxes_or_beyond_them_is_refused(offsets: list[int], shape: list[int]) -> None:
    tile = HELPERS["_boxes"](HELPERS["_pool"](32 * 24 * 4), 0, [32, 24], torch.float32, "NZ")
    with pytest.raises(ValueError) as error:
        HELPERS["_box_window"](tile, offsets, shape)
    assert str(error.value) == (
        f"a window {shape} of 512 bytes from {offsets} on is no part of the boxes [2, 16, 3, 8] of 3072 bytes"
        " at 0x0"
    )


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (0x1C, "a tile of torch.float32[2, 8] at 0x1c, 64 bytes: the memory has 64"),
        (-4, "a tile of torch.float32[2, 8] at -0x4, 64 bytes: the memory has 64"),
        (0x2, "a tile of torch.float32[2, 8] at 0x2, 64 bytes: the memory has 64"),
    ],
)
def test_a_tile_beyond_its_memory_or_off_its_elements_is_refused(address: int, told: str) -> None:
    with pytest.raises(ValueError) as error:
        HELPERS["_buf"](HELPERS["_pool"](64), address, [2, 8], torch.float32)
    assert str(error.value) == told


def test_a_value_of_another_shape_is_refused() -> None:
    tile = HELPERS["_buf"](HELPERS["_pool"](64), 0, [2, 8], torch.float32)
    with pytest.raises(ValueError) as error:
        HELPERS["_write_tile"](tile, torch.zeros(1, 8))
    assert str(error.value) == "a value [1, 8] for a tile [2, 8]"


def test_slots_are_taken_in_turn_and_what_is_given_back_is_gone() -> None:
    pool = HELPERS["_pool"](0x400)
    slots = HELPERS["_Slots"](pool, 0x100, 0x80, 2)
    one, two, three = (torch.full((4, 8), float(number)) for number in (1, 2, 3))
    first, second = slots.take(one), slots.take(two)
    assert (first.data_ptr(), second.data_ptr()) == tuple(pool.data_ptr() + at for at in (0x100, 0x180))
    slots.free()
    assert bool(first.isnan().all())
    assert same(second, two)
    third = slots.take(three)
    assert same(third, three)
    assert same(first, three)  # the same bytes
    slots.free()
    assert bool(second.isnan().all())
    assert not pool[:0x100].any()
    assert not pool[0x200:].any()


def test_a_slot_that_is_still_held_is_overwritten() -> None:
    slots = HELPERS["_Slots"](HELPERS["_pool"](0x80), 0, 0x80, 1)
    first = slots.take(torch.ones(4, 8))
    slots.take(torch.zeros(4, 8))
    assert not first.any()


def test_a_popped_tile_keeps_the_region_of_what_was_pushed() -> None:
    """Also in boxes, where its shape is another one."""
    slots = HELPERS["_Slots"](HELPERS["_pool"](0x800), 0, 0x400, 2)
    part = torch.ones(16, 16)
    part._pypto_valid_shape = [5, 16]  # type: ignore[attr-defined]
    assert HELPERS["_region"](slots.take(part)) == [5, 16]
    assert HELPERS["_region"](slots.take_boxed(part, "NZ")) == [5, 16]
    assert HELPERS["_region"](slots.take_boxed(torch.ones(16, 16), "NZ")) == [16, 16]


def test_a_tile_beyond_its_slot_is_refused() -> None:
    slots = HELPERS["_Slots"](HELPERS["_pool"](0x80), 0, 0x40, 2)
    with pytest.raises(ValueError) as error:
        slots.take(torch.zeros(4, 8))
    assert str(error.value) == "a tile torch.float32[4, 8] in a slot of 64 bytes"


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool, torch.uint16], ids=str)
def test_nothing_is_left_in_a_workspace(dtype: torch.dtype) -> None:
    tile = torch.zeros(4, 8, dtype=torch.uint8).repeat(1, dtype.itemsize).view(dtype)
    HELPERS["_clobber"](tile[:, :4])
    assert bool((tile[:, :4].double() != 0).all())
    assert bool((tile[:, 4:].view(torch.uint8) == 0).all())


def test_tiles_are_carried_all_at_once() -> None:
    pool = HELPERS["_pool"](0x1000)
    one, two = (HELPERS["_buf"](pool, at, [16, 16], torch.float32) for at in (0, 0x400))
    boxes = HELPERS["_boxes"](pool, 0x800, [16, 16], torch.float32, "NZ")
    one.fill_(1)
    two.fill_(2)
    HELPERS["_pack"](boxes, torch.arange(256.0).view(16, 16))
    HELPERS["_carry"]([one, two, boxes], [two, HELPERS["_unpack"](boxes), one])
    assert bool((one == 2).all())
    assert same(two, torch.arange(256.0).view(16, 16))
    assert bool((boxes == 1).all())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_unpacked_may_be_converted_by_the_same_copy(layout: str) -> None:
    value = random_value((32, 48), torch.bfloat16)
    tile = HELPERS["_boxes"](HELPERS["_pool"](32 * 48 * 2), 0, [32, 48], torch.bfloat16, layout)
    HELPERS["_pack"](tile, value)
    assert same(HELPERS["_unpack"](tile, dtype=torch.float32), value.float())
    assert same(HELPERS["_unpack"](tile, [20, 40], torch.float32), value[:20, :40].float())


@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 64, 48), (48, 20, 16)])
def test_a_product_is_written_into_its_boxes(shape: tuple[int, int, int]) -> None:
    """Of integers in floats, whose sums are exact."""
    (rows, length, columns), generator = shape, torch.Generator().manual_seed(4)
    lhs = torch.randint(-8, 8, (rows, length), generator=generator)
    rhs = torch.randint(-8, 8, (length, columns), generator=generator)
    pool = HELPERS["_pool"](64 + rows * columns * 4 + 64)
    pool.fill_(7)
    tile = HELPERS["_boxes"](pool, 64, [rows, columns], torch.float32, "NZ", 1024)
    HELPERS["_matmul_boxes"](tile, lhs.float(), rhs.float())
    assert torch.equal(HELPERS["_unpack"](tile).long(), (lhs[:, :, None] * rhs).sum(dim=1))
    assert bool((torch.cat([pool[:64], pool[-64:]]) == 7).all())
