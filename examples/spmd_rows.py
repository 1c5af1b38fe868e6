"""A grid of SPMD blocks over a number of rows that is known at run time only; the last block is partial."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import ScalarSpec, TensorSpec

ROWS = pl.dynamic("ROWS")
COLS, BLOCK = 256, 32


@pl.jit
def scale_rows(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    factor: pl.Scalar[pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    rows = pl.tensor.dim(x, 0)
    blocks = (rows + BLOCK - 1) // BLOCK
    for b in pl.spmd(blocks, name_hint="scale_rows"):
        r = b * BLOCK
        part = pl.slice(x, [BLOCK, COLS], [r, 0], valid_shape=[pl.min(BLOCK, rows - r), COLS])
        norm = pl.sqrt(pl.add(pl.row_sum(pl.mul(part, part)), 1e-6))
        out = pl.assemble(out, pl.mul(pl.row_expand_div(part, norm), factor), [r, 0])
    return out


KERNEL = scale_rows


def specs(rows=150):
    return [
        TensorSpec("x", [rows, COLS], torch.float32, torch.randn),
        ScalarSpec("factor", torch.float32, 2.5),
        TensorSpec("out", [rows, COLS], torch.float32, is_output=True),
    ]


def golden(t):
    x = t["x"]
    t["out"][:] = x / torch.sqrt(x.square().sum(dim=-1, keepdim=True) + 1e-6) * t["factor"]


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-5, atol=1e-5)
