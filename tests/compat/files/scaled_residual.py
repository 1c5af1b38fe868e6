"""A residual of some rows, with scalars that are annotated by their dtype."""

import argparse

import pypto.language as pl
import torch
from golden import ScalarSpec, TensorSpec, run_jit

ROWS, COLS, TILE = 64, 32, 16


@pl.jit.inline
def blend(a: pl.Tensor[[TILE, COLS], pl.FP32], b: pl.Tensor[[TILE, COLS], pl.FP32], alpha: pl.FP32):
    return pl.add(pl.mul(a, alpha), pl.mul(b, 1.0 - alpha))


@pl.jit
def scaled_residual(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    y: pl.Tensor[[ROWS, COLS], pl.FP32],
    alpha: pl.FP32,
    count: pl.INT32,
    out: pl.InOut[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for r in pl.parallel(0, ROWS, TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="blend"):
            if r < count:
                mixed = blend(x[r : r + TILE, :], y[r : r + TILE, :], alpha)
                out[r : r + TILE, :] = pl.add(out[r : r + TILE, :], mixed)
    return out


def specs():
    return [
        TensorSpec("x", [ROWS, COLS], torch.float32, init_value=torch.randn),
        TensorSpec("y", [ROWS, COLS], torch.float32, init_value=torch.randn),
        ScalarSpec("alpha", torch.float32, 0.25),
        ScalarSpec("count", torch.int32, 40),
        TensorSpec("out", [ROWS, COLS], torch.float32, init_value=torch.randn, is_output=True),
    ]


def golden(t):
    rows = -(-int(t["count"]) // TILE) * TILE
    mixed = t["x"] * t["alpha"] + t["y"] * (1 - t["alpha"])
    t["out"][:rows] += mixed[:rows]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        scaled_residual,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-5,
        atol=1e-5,
    )
    if not result.passed:
        raise SystemExit(result.error)
