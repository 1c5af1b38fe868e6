"""Windows of tiles in boxes, which their offsets place: what is read there, and what is written."""

import pytest
import torch
from storage.placed_kernels import inputs, placed, run

from pypto_tmpl.debug import torch_codegen

X, _ = inputs()
BOXES = """
    box: pl.Ptr = pl.tile.alloc(pl.Mem.Mat, 4096)
    a @ 0x1000 FP32[16, 64] = load(x)
    q: pl.Tile[[16, 64], pl.FP32, pl.MemRef(box, pl.const(0, pl.INT64), 4096), pl.Mem.Mat] = pl.tile.move(a, target_memory=pl.Mem.Mat)
"""  # noqa: E501  # the printer breaks no lines
WINDOW = """
    w: pl.Tile[[{0}, {1}], pl.FP32, pl.MemRef(box, pl.const(0, pl.INT64), 4096), pl.Mem.Mat] = pl.tile.slice(q, [{0}, {1}], [{2}, {3}])
"""  # noqa: E501


@pytest.mark.parametrize(
    ("rows", "columns", "r", "c"), [(16, 16, 0, 24), (16, 3, 0, 9), (4, 8, 5, 16), (4, 3, 2, 12)]
)
def test_a_window_is_some_boxes_or_a_part_of_one(rows: int, columns: int, r: int, c: int) -> None:
    program = placed(
        BOXES
        + WINDOW.format(rows, columns, r, c)
        + f"""
    m @ 0x3000 FP32[{rows}, {columns}] = pl.tile.move(w, target_memory=pl.Mem.Vec)
    store(m)
    """
    )
    assert torch.equal(run(program)[:rows, :columns], X[r : r + rows, c : c + columns])


def test_what_is_written_into_a_window_lies_there() -> None:
    program = placed(
        BOXES
        + WINDOW.format(16, 16, 0, 16)
        + """
    k @ 0x1000 FP32[16, 8] = pl.tile.slice(a, [16, 8], [0, 0])
    v: pl.Tile[[16, 16], pl.FP32, pl.MemRef(box, pl.const(0, pl.INT64), 4096), pl.Mem.Mat] = pl.tile.assemble(w, k, [0, 8])
    m @ 0x3000 FP32[16, 64] = pl.tile.move(q, target_memory=pl.Mem.Vec)
    store(m)
    """  # noqa: E501
    )
    want = X.clone()
    want[:, 24:32] = X[:, :8]
    assert torch.equal(run(program), want)
    assert "    v = w\n    _pack_part(v, _assemble(_unpack(w), k, [0, 8]))\n" in torch_codegen(
        program, storage=True
    )
