"""Layer norm with weight and bias; the loads of a block overlap the work on the one before (pipeline)."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

ROWS, HIDDEN, BLOCK = 128, 512, 16
EPS = 1e-5


@pl.jit.inline
def row_mean(x: pl.Tensor):
    cols = x.shape[1]
    return pl.mul(pl.row_sum(x), 1.0 / cols)


@pl.jit
def layer_norm(
    x: pl.Tensor[[ROWS, HIDDEN], pl.FP32],
    weight: pl.Tensor[[1, HIDDEN], pl.FP32],
    bias: pl.Tensor[[1, HIDDEN], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, HIDDEN], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="layer_norm"):
        for r in pl.pipeline(0, ROWS, BLOCK, stage=2):
            t = x[r : r + BLOCK, :]
            centred = pl.row_expand_sub(t, row_mean(t))
            variance = row_mean(pl.mul(centred, centred))
            normed = pl.row_expand_mul(centred, pl.rsqrt(pl.add(variance, EPS)))
            out[r : r + BLOCK, :] = pl.col_expand_add(pl.col_expand_mul(normed, weight), bias)
    return out


KERNEL = layer_norm


def specs():
    return [
        TensorSpec("x", [ROWS, HIDDEN], torch.float32, lambda: torch.randn(ROWS, HIDDEN) * 3 + 1),
        TensorSpec("weight", [1, HIDDEN], torch.float32, torch.randn),
        TensorSpec("bias", [1, HIDDEN], torch.float32, torch.randn),
        TensorSpec("out", [ROWS, HIDDEN], torch.float32, is_output=True),
    ]


def golden(t):
    weight, bias = t["weight"][0], t["bias"][0]
    t["out"][:] = torch.nn.functional.layer_norm(t["x"], (HIDDEN,), weight, bias, EPS)


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-4, atol=1e-4)
