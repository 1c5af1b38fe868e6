"""Element-wise: a gated unit with a residual, ``out = silu(gate) * up + residual``, in blocks of rows.

Four blocks in FP32 lie in the memory of a vector core at a time.
"""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

ROWS, COLS, BLOCK = 256, 512, 16


@pl.jit
def gated_unit(
    gate: pl.Tensor[[ROWS, COLS], pl.BF16],
    up: pl.Tensor[[ROWS, COLS], pl.BF16],
    residual: pl.Tensor[[ROWS, COLS], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for r in pl.parallel(0, ROWS, BLOCK):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="gated_unit"):
            g = pl.cast(gate[r : r + BLOCK, :], target_type=pl.FP32)
            u = pl.cast(up[r : r + BLOCK, :], target_type=pl.FP32)
            sigmoid = pl.recip(pl.add(pl.exp(pl.neg(g)), 1.0))
            y = pl.mul(pl.mul(g, sigmoid), u)
            out[r : r + BLOCK, :] = pl.add(y, residual[r : r + BLOCK, :])
    return out


KERNEL = gated_unit


def specs():
    return [
        TensorSpec("gate", [ROWS, COLS], torch.bfloat16, torch.randn),
        TensorSpec("up", [ROWS, COLS], torch.bfloat16, torch.randn),
        TensorSpec("residual", [ROWS, COLS], torch.float32, torch.randn),
        TensorSpec("out", [ROWS, COLS], torch.float32, is_output=True),
    ]


def golden(t):
    gate, up = t["gate"].float(), t["up"].float()
    t["out"][:] = torch.nn.functional.silu(gate) * up + t["residual"]


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-5, atol=1e-5)
