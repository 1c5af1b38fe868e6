"""Which tiles lie in boxes."""

import pytest

from pypto_tmpl import ir
from pypto_tmpl.storage.boxes import boxes_of

COLUMN, ROW = ir.TileLayout.col_major, ir.TileLayout.row_major


def view(fractal: int = 512) -> ir.TileView:
    return ir.TileView(blayout=COLUMN, slayout=ROW, fractal=fractal)


@pytest.mark.parametrize(
    ("shape", "dtype", "fractal", "box"),
    [
        ((64, 64), ir.DataType.BF16, 512, (16, 16)),  # 16 rows of 32 bytes
        ((64, 64), ir.DataType.INT8, 512, (16, 32)),
        ((64, 64), ir.DataType.INT4, 512, (16, 64)),
        ((64, 64), ir.DataType.HF4, 512, (16, 64)),
        ((64, 64), ir.DataType.BOOL, 512, (16, 32)),
        ((16, 32), ir.DataType.FP32, 1024, (16, 16)),
    ],
)
def test_boxes_of_whole_tiles(shape, dtype, fractal, box) -> None:
    found = boxes_of(view(fractal), shape, dtype)
    assert found is not None and found.name == "NZ"
    assert ((found.height, found.width), (found.rows, found.columns)) == (box, shape)


@pytest.mark.parametrize("shape", [(1, 64), (24, 64), (16, 24)])
def test_a_tile_that_does_not_fill_its_boxes_lies_by_rows(shape) -> None:
    """The allocation of a row of 64 numbers in BF16 has 128 bytes, four boxes have 2,048."""
    assert boxes_of(view(), shape, ir.DataType.BF16) is None


@pytest.mark.parametrize(
    ("rows", "acc_rows", "stored"), [(16, 16, 16), (8, 16, 16), (40, 16, 48), (16, 32, 32), (40, 32, 64)]
)
def test_accumulators_have_whole_boxes_of_rows(rows, acc_rows, stored) -> None:
    """Of INT32, the cube core of a 910B writes 32 rows or a multiple of them."""
    found = boxes_of(view(1024), (rows, 32), ir.DataType.INT32, acc_rows)
    assert found is not None and (found.rows, found.columns) == (stored, 32)
