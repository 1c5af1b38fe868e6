"""Tiles as views of bytes: where each element of a layout lies, longhand, and what is refused."""

import itertools

import pytest
import torch
from preamble.rendered import load, render

from pypto_tmpl.codegen.options import ScriptOptions

NAMES = ("_pool", "_buf", "_boxes", "_unpack", "_pack", "_box_window", "_window", "_write_tile")
HELPERS = load(render(*NAMES, options=ScriptOptions(storage=True)), "<storage helpers>")
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int8, torch.uint8, torch.int64)
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
    return torch.randint(
        -100 if dtype.is_signed else 0, 100, shape, generator=torch.Generator().manual_seed(3)
    ).to(dtype)


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
        assert torch.equal(HELPERS["_unpack"](tile), value)
        memory = pool.cells[64 : 64 + value.numel() * size].view(dtype)
        for r, c in itertools.product(range(shape[0]), range(shape[1])):
            assert memory[position(layout, fractal, size, shape, r, c)] == value[r, c], (boxes, r, c)


@pytest.mark.parametrize("shape", [[5, 9], [16, 8], [17, 24], [40, 1]])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tile_that_does_not_fill_its_boxes_keeps_its_cells(layout: str, shape: list[int]) -> None:
    value = random_value(tuple(shape), torch.float32)
    pool = HELPERS["_pool"](64 * 64 * 4)
    tile = HELPERS["_boxes"](pool, 0, shape, torch.float32, layout)
    HELPERS["_pack"](tile, value)
    assert torch.equal(HELPERS["_unpack"](tile, shape), value)


def test_turned_letters_are_the_turned_tile() -> None:
    value = random_value((32, 16), torch.float32)
    pool = HELPERS["_pool"](value.numel() * 4)
    HELPERS["_pack"](HELPERS["_boxes"](pool, 0, [32, 16], torch.float32, "NZ"), value)
    seen = {
        layout: HELPERS["_unpack"](HELPERS["_boxes"](pool, 0, [16, 32], torch.float32, layout))
        for layout in LAYOUTS
    }
    assert [layout for layout in LAYOUTS if torch.equal(seen[layout], value.T)] == ["ZN"]


def test_a_compact_tile_has_columns_of_fewer_boxes() -> None:
    """Of 48 rows 10 count: the second column of boxes begins 16 rows behind the first."""
    value = random_value((48, 32), torch.float32)
    pool = HELPERS["_pool"](48 * 32 * 4)
    tile = HELPERS["_boxes"](pool, 0, [48, 32], torch.float32, "NZ", 1024, rows=16)
    HELPERS["_pack"](tile, value)
    memory = pool.cells.view(torch.float32)
    assert memory[0] == value[0, 0]
    assert memory[16 * 16] == value[0, 16]
    assert not memory[16 * 32 :].any()
    seen = HELPERS["_unpack"](tile, [48, 32])
    assert torch.equal(seen[:16], value[:16])
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
    assert torch.equal(HELPERS["_unpack"](window), value[r : r + rows, c : c + columns])
    HELPERS["_pack"](window, torch.full(shape, 7.0))
    value[r : r + rows, c : c + columns] = 7
    assert torch.equal(HELPERS["_unpack"](tile), value)


@pytest.mark.parametrize(("offsets", "shape"), [([8, 0], [16, 8]), ([0, 20], [16, 8]), ([-16, 0], [16, 8])])
def test_a_window_across_boxes_or_beyond_them_is_refused(offsets: list[int], shape: list[int]) -> None:
    tile = HELPERS["_boxes"](HELPERS["_pool"](32 * 24 * 4), 0, [32, 24], torch.float32, "NZ")
    with pytest.raises(ValueError) as error:
        HELPERS["_box_window"](tile, offsets, shape)
    assert str(error.value) == f"a window {shape} at {offsets} is no part of the boxes [2, 16, 3, 8]"


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
