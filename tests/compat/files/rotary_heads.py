"""Rotary halves of every head, by a helper with annotated blocks; a branch is for odd widths."""

import argparse
import math

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

HEADS, ROWS, DIM = 2, 32, 64
HALF = DIM // 2
ODD = DIM - 2 * HALF
SCALE = 1.0 / math.sqrt(DIM)


@pl.jit.inline
def rotate(
    low: pl.Tensor[[ROWS, HALF], pl.FP32],
    high: pl.Tensor[[ROWS, HALF], pl.FP32],
    cos: pl.Tensor[[ROWS, HALF], pl.FP32],
    sin: pl.Tensor[[ROWS, HALF], pl.FP32],
):
    first = pl.sub(pl.mul(low, cos), pl.mul(high, sin))
    second = pl.add(pl.mul(high, cos), pl.mul(low, sin))
    return first, second


@pl.jit
def rotary_heads(
    x: pl.Tensor[[ROWS, HEADS * DIM], pl.BF16],
    cos: pl.Tensor[[ROWS, HALF], pl.FP32],
    sin: pl.Tensor[[ROWS, HALF], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, HEADS * DIM], pl.FP32]],
):
    for h in pl.parallel(HEADS):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="rotate"):
            c = h * DIM
            low = pl.mul(x[:, c : c + HALF], SCALE)
            high = pl.mul(x[:, c + HALF : c + DIM], SCALE)
            first, second = rotate(low, high, cos, sin)
            out[:, c : c + HALF] = first
            out[:, c + HALF : c + DIM] = second
            if ODD > 0:
                out[:, c + 2 * HALF : c + 2 * HALF + ODD] = x[:, c + 2 * HALF : c + 2 * HALF + ODD]
    return out


def specs():
    return [
        TensorSpec("x", [ROWS, HEADS * DIM], torch.bfloat16, init_value=torch.randn),
        TensorSpec("cos", [ROWS, HALF], torch.float32, init_value=torch.rand),
        TensorSpec("sin", [ROWS, HALF], torch.float32, init_value=torch.rand),
        TensorSpec("out", [ROWS, HEADS * DIM], torch.float32, is_output=True),
    ]


def golden(t):
    x = t["x"].float().reshape(ROWS, HEADS, 2, HALF) * SCALE
    cos, sin = t["cos"][:, None], t["sin"][:, None]
    low, high = x[:, :, 0], x[:, :, 1]
    t["out"][:] = torch.stack([low * cos - high * sin, high * cos + low * sin], 2).reshape(ROWS, HEADS * DIM)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        rotary_heads,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-5,
        atol=1e-5,
    )
    if not result.passed:
        raise SystemExit(result.error)
