"""A product with parts that flags leave out: what is not built in is read all the same, and is no error."""

import argparse
from dataclasses import dataclass

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit


@dataclass(frozen=True)
class Config:
    rows: int = 32
    inner: int = 64
    cols: int = 64
    groups: int = 1
    has_bias: bool = True
    has_gate: bool = False


CFG = Config()
M, K, N = CFG.rows, CFG.inner, CFG.cols
PER_GROUP = N // CFG.groups


@pl.jit
def flagged_matmul(
    x: pl.Tensor[[M, K], pl.BF16],
    w: pl.Tensor[[K, N], pl.BF16],
    bias: pl.Tensor[[1, N], pl.FP32],
    out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    acc = pl.create_tensor([M, N], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="product"):
        acc[:, :] = pl.matmul(x, w, out_dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="finish"):
        y = acc[:, :]
        if CFG.has_gate:
            gate = bias[:, N : 2 * N]
        if CFG.has_bias:
            y = pl.col_expand_add(y, bias)
        if CFG.has_gate:
            y = pl.col_expand_mul(y, gate)
        if CFG.groups > 1:
            for g in pl.range(1, CFG.groups):
                part = y[:, g * PER_GROUP : (g + 1) * PER_GROUP]
                y = pl.add(y, part)
        out[:, :] = y
    return out


def specs():
    return [
        TensorSpec("x", [M, K], torch.bfloat16, init_value=torch.randn),
        TensorSpec("w", [K, N], torch.bfloat16, init_value=lambda: torch.randn(K, N) / K**0.5),
        TensorSpec("bias", [1, N], torch.float32, init_value=torch.randn),
        TensorSpec("out", [M, N], torch.float32, is_output=True),
    ]


def golden(t):
    t["out"][:] = t["x"].float() @ t["w"].float() + t["bias"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        flagged_matmul,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-3,
        atol=1e-3,
    )
    if not result.passed:
        raise SystemExit(result.error)
