"""Windows of tokens pooled into one row each; blocks add to one output, and constants bend the code."""

import argparse
import sys

import pypto.language as pl
import torch
from golden import TensorSpec, ratio_reldiff, run_jit

VARIANT = "mean"
for at, word in enumerate(sys.argv):
    if word == "--variant":
        VARIANT = sys.argv[at + 1]

TOKENS, DIM, WINDOW = 64, 128, 8
WINDOWS = TOKENS // WINDOW
WEIGHTS = [1.0, 0.5, 0.25]


@pl.jit.inline
def pooled(rows: pl.Tensor):
    if VARIANT == "mean":
        total = pl.mul(pl.col_sum(rows), 1.0 / WINDOW)
    else:
        total = pl.col_max(rows)
    return total


@pl.jit
def pooled_windows(
    x: pl.Tensor[[TOKENS, DIM], pl.FP16],
    bias: pl.Tensor[[1, DIM], pl.FP32],
    windows: pl.Out[pl.Tensor[[WINDOWS, DIM], pl.FP32]],
    total: pl.InOut[pl.Tensor[[1, DIM], pl.FP32]],
):
    with pl.spmd(WINDOWS, name_hint="pool"):
        w = pl.tile.get_block_idx()
        rows = pl.cast(x[w * WINDOW : w * WINDOW + WINDOW, :], pl.FP32)
        one = pl.add(pooled(rows), bias[0:1, :])
        for _ in pl.unroll(len(WEIGHTS)):
            one = pl.add(one, pl.mul(one, WEIGHTS[-1]))
        one = pl.sub(pl.mul(one, WEIGHTS[0]), pl.mul(one, WEIGHTS[1]))
        windows[w : w + 1, :] = one
        total = pl.assemble(total, one, [0, 0], atomic=pl.AtomicType.Add)
    return windows, total


def make_specs():
    return [
        TensorSpec("x", [TOKENS, DIM], torch.float16, init_value=torch.randn),
        TensorSpec("bias", [1, DIM], torch.float32, init_value=torch.randn),
        TensorSpec("windows", [WINDOWS, DIM], torch.float32, is_output=True),
        TensorSpec("total", [1, DIM], torch.float32, init_value=1.0, is_output=True),
    ]


def golden_fn(tensors):
    parts = tensors["x"].float().reshape(WINDOWS, WINDOW, DIM)
    one = (parts.mean(1) if VARIANT == "mean" else parts.amax(1)) + tensors["bias"]
    one = one * 1.25**3 * (1.0 - 0.5)
    tensors["windows"][:] = one
    tensors["total"] += one.sum(0)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("-p", "--platform", default="a2a3", choices=["a2a3", "a2a3sim", "a5", "a5sim"])
    ap.add_argument("-d", "--device", type=str, default="0")
    ap.add_argument("--variant", default="mean")
    ap.add_argument("--enable-chip-swimlane", nargs="?", type=int, const=4, default=0)
    ns = ap.parse_args()
    res = run_jit(
        fn=pooled_windows,
        specs=make_specs(),
        golden_fn=golden_fn,
        compile_cfg={"dump_passes": True},
        runtime_cfg={
            "platform": ns.platform,
            "device_id": int(ns.device),
            "enable_chip_swimlane": ns.enable_chip_swimlane,
        },
        rtol=1e-3,
        atol=1e-3,
        compare_fn={"total": ratio_reldiff(diff_thd=1e-3)},
    )
    if not res.passed:
        print(res.error or "")
        raise SystemExit(1)
