"""A gate of half-precision tensors and number literals: tensors compute with literals in FP32."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

ROWS, COLS = 32, 64
SCALE, SHIFT = 0.1, 1.0


@pl.jit.inline
def gate(x: pl.Tensor[[ROWS, COLS], pl.FP16]):
    wide = pl.add(pl.mul(x, SCALE), SHIFT)
    return pl.maximum(wide, 0.0)


@pl.jit
def half_gate(
    x: pl.Tensor[[ROWS, COLS], pl.FP16],
    y: pl.Tensor[[ROWS, COLS], pl.BF16],
    wide: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    narrow: pl.Out[pl.Tensor[[ROWS, COLS], pl.BF16]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="gate"):
        g = gate(x)
        wide[:, :] = pl.mul(g, pl.div(y, 3.0))
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="narrow"):
        narrow[:, :] = pl.cast(pl.mul(y, SCALE), target_type=pl.BF16, mode="rint")
    return wide, narrow


def specs():
    return [
        TensorSpec("x", [ROWS, COLS], torch.float16, init_value=torch.randn),
        TensorSpec("y", [ROWS, COLS], torch.bfloat16, init_value=torch.randn),
        TensorSpec("wide", [ROWS, COLS], torch.float32, is_output=True),
        TensorSpec("narrow", [ROWS, COLS], torch.bfloat16, is_output=True),
    ]


def golden(t):
    x, y = t["x"].float(), t["y"].float()
    t["wide"][:] = (x * SCALE + SHIFT).clamp(min=0) * (y / 3)
    t["narrow"][:] = (y * SCALE).bfloat16()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        half_gate,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-6,
        atol=1e-6,
    )
    if not result.passed:
        raise SystemExit(result.error)
