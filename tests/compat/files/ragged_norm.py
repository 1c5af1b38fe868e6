"""RMS norm of as many rows as a call brings, the last tile valid in part."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

T = pl.dynamic("T")
COLS, TILE, TOKENS = 64, 16, 41
EPS = 1e-6


@pl.jit.incore
def norm_tile(
    x: pl.Tensor[[T, COLS], pl.BF16],
    g: pl.Tensor[[1, COLS], pl.FP32],
    r: pl.INDEX,
    n: pl.INDEX,
    y: pl.Out[pl.Tensor[[T, COLS], pl.FP32]],
):
    t = pl.cast(pl.slice(x, [TILE, COLS], [r, 0], valid_shape=[n, COLS]), target_type=pl.FP32)
    inv = pl.rsqrt(pl.add(pl.mul(pl.row_sum(pl.mul(t, t)), 1.0 / COLS), EPS))
    y = pl.assemble(y, pl.col_expand_mul(pl.row_expand_mul(t, inv), g), [r, 0])
    return y


@pl.jit
def ragged_norm(x: pl.Tensor, g: pl.Tensor, y: pl.Out[pl.Tensor]):
    x.bind_dynamic(dim=0, var=T)
    y.bind_dynamic(0, var=T)
    rows = pl.tensor.dim(x, 0)
    for r in pl.range(0, rows, TILE):
        y = norm_tile(x, g, r, pl.min(TILE, rows - r), y)
    return y


def specs():
    return [
        TensorSpec("x", [TOKENS, COLS], torch.bfloat16, init_value=torch.randn),
        TensorSpec("g", [1, COLS], torch.float32, init_value=torch.rand),
        TensorSpec("y", [TOKENS, COLS], torch.float32, is_output=True),
    ]


def golden(t):
    x = t["x"].float()
    t["y"][:] = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * t["g"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        ragged_norm,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-4,
        atol=1e-4,
    )
    if not result.passed:
        raise SystemExit(result.error)
