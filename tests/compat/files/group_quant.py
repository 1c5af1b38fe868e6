"""Activations made INT8 with a scale for each group of columns, and the rounding written out."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

ROWS_DYN = pl.dynamic("ROWS_DYN")
COLS, GROUP, TILE = 256, 64, 16
GROUPS = COLS // GROUP
LARGEST = 127.0
TINY = 1e-6


@pl.jit
def group_quant(
    x: pl.Tensor[[ROWS_DYN, COLS], pl.BF16],
    q: pl.Out[pl.Tensor[[ROWS_DYN, COLS], pl.INT8]],
    scale: pl.Out[pl.Tensor[[ROWS_DYN, GROUPS], pl.FP32]],
):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + TILE - 1) // TILE, name_hint="quant"):
        r = block * TILE
        left = pl.min(rows - r, TILE)
        for g in pl.range(GROUPS):
            part = pl.slice(x, [TILE, GROUP], [r, g * GROUP], valid_shape=[left, GROUP])
            wide = pl.cast(part, target_type=pl.FP32)
            top = pl.maximum(pl.row_max(pl.abs(wide)), TINY)
            step = pl.mul(top, 1.0 / LARGEST)
            whole = pl.cast(pl.row_expand_div(wide, step), target_type=pl.INT32, mode="rint")
            half = pl.cast(
                pl.cast(whole, target_type=pl.FP16, mode="round"), target_type=pl.INT8, mode="trunc"
            )
            q = pl.assemble(q, half, [r, g * GROUP])
            scale = pl.assemble(scale, step, [r, g])
    return q, scale


def make_specs(rows):
    return [
        TensorSpec("x", [rows, COLS], torch.bfloat16, init_value=torch.randn),
        TensorSpec("q", [rows, COLS], torch.int8, is_output=True),
        TensorSpec("scale", [rows, GROUPS], torch.float32, is_output=True),
    ]


def reference(t):
    groups = t["x"].float().reshape(-1, GROUPS, GROUP)
    step = groups.abs().amax(-1).clamp(min=TINY) * (1.0 / LARGEST)
    t["scale"][:] = step
    t["q"][:] = (groups / step[..., None]).round().to(torch.int8).reshape(t["q"].shape)


def off_by_one(actual, expected, **_):
    worst = (actual.int() - expected.int()).abs().max().item()
    return worst <= 1, f"off by {worst}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    parser.add_argument("-d", "--device", type=int, default=0)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--compile-only", action="store_true")
    args = parser.parse_args()
    result = run_jit(
        fn=group_quant,
        specs=make_specs(args.rows),
        golden_fn=reference,
        runtime_cfg={"platform": args.platform, "device_id": args.device},
        rtol=1e-5,
        atol=1e-7,
        compare_fn={"q": off_by_one},
        compile_only=args.compile_only,
    )
    if not result.passed:
        raise SystemExit(result.error)
