"""Softmax over rows that are shorter than the tile: padding is filled with the dtype's minimum first."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

ROWS, COLS, TILE, BLOCK = 128, 200, 256, 32


@pl.jit
def softmax(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for r in pl.parallel(0, ROWS, BLOCK):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="softmax"):
            part = pl.slice(x, [BLOCK, TILE], [r, 0], valid_shape=[BLOCK, COLS])
            padded = pl.fillpad(part, pad_value=pl.PadValue.min)
            e = pl.exp(pl.row_expand_sub(padded, pl.row_max(padded)))
            p = pl.row_expand_div(e, pl.row_sum(e))
            out = pl.assemble(out, pl.set_validshape(p, BLOCK, COLS), [r, 0])
    return out


KERNEL = softmax


def specs():
    return [
        TensorSpec("x", [ROWS, COLS], torch.float32, lambda: torch.randn(ROWS, COLS) * 4 - 8),
        TensorSpec("out", [ROWS, COLS], torch.float32, is_output=True),
    ]


def golden(t):
    t["out"][:] = torch.softmax(t["x"].double(), dim=-1).float()


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-5, atol=1e-6)
