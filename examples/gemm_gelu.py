"""A linear layer with GELU in one scope: cube and vector work that the compiler takes apart."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

M, K, N, TILE_N = 64, 128, 512, 128


@pl.jit.inline
def gelu(x: pl.Tensor):
    """The sigmoid form, x * sigmoid(1.702 x)."""
    return pl.mul(x, pl.recip(pl.add(pl.exp(pl.mul(x, -1.702)), 1.0)))


@pl.jit
def linear_gelu(
    x: pl.Tensor[[M, K], pl.BF16],
    weight: pl.Tensor[[N, K], pl.BF16],
    bias: pl.Tensor[[1, N], pl.FP32],
    out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    with pl.at(
        level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)], name_hint="linear_gelu"
    ):
        for n in pl.range(0, N, TILE_N):
            product = pl.matmul(x, weight[n : n + TILE_N, :], b_trans=True, out_dtype=pl.FP32)
            out[:, n : n + TILE_N] = gelu(pl.col_expand_add(product, bias[:, n : n + TILE_N]))
    return out


KERNEL = linear_gelu


def specs():
    return [
        TensorSpec("x", [M, K], torch.bfloat16, torch.randn),
        TensorSpec("weight", [N, K], torch.bfloat16, lambda: torch.randn(N, K) / K**0.5),
        TensorSpec("bias", [1, N], torch.float32, torch.randn),
        TensorSpec("out", [M, N], torch.float32, is_output=True),
    ]


def golden(t):
    y = torch.nn.functional.linear(t["x"].float(), t["weight"].float(), t["bias"][0])
    t["out"][:] = y * torch.sigmoid(1.702 * y)


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-4, atol=1e-4)
