"""The third scope of a decode step in the manner of Qwen3: all of a layer that follows attention.

Output projection, residual, RMS norm, gated MLP, residual. Products and what is computed of them stand in one
scope: the passes take it apart into a cube and a vector kernel that hand tiles to each other.
"""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

BATCH, HIDDEN, INNER = 16, 512, 1024
TILE_K, TILE_N = 128, 128
EPS = 1e-6


@pl.jit.inline
def product(x: pl.Tensor, weight: pl.Tensor, n: pl.Scalar[pl.INDEX]):
    """TILE_N columns of ``x @ weight`` from column n on, in FP32."""
    depth = x.shape[1]
    acc = pl.matmul(x[:, 0:TILE_K], weight[0:TILE_K, n : n + TILE_N], out_dtype=pl.FP32)
    for k in pl.range(TILE_K, depth, TILE_K):
        acc = pl.matmul_acc(acc, x[:, k : k + TILE_K], weight[k : k + TILE_K, n : n + TILE_N])
    return acc


@pl.jit
def scope3(
    attn_out: pl.Tensor[[BATCH, HIDDEN], pl.BF16],
    hidden_states: pl.Tensor[[BATCH, HIDDEN], pl.BF16],
    wo: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    post_rms_weight: pl.Tensor[[1, HIDDEN], pl.FP32],
    w_gate: pl.Tensor[[HIDDEN, INNER], pl.BF16],
    w_up: pl.Tensor[[HIDDEN, INNER], pl.BF16],
    w_down: pl.Tensor[[INNER, HIDDEN], pl.BF16],
    out: pl.Out[pl.Tensor[[BATCH, HIDDEN], pl.BF16]],
):
    resid = pl.create_tensor([BATCH, HIDDEN], dtype=pl.FP32)
    for n in pl.parallel(0, HIDDEN, TILE_N):
        with pl.at(
            level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)], name_hint="projection"
        ):
            before = pl.cast(hidden_states[:, n : n + TILE_N], target_type=pl.FP32)
            resid[:, n : n + TILE_N] = pl.add(product(attn_out, wo, n), before)

    normed = pl.create_tensor([BATCH, HIDDEN], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="rms_norm"):
        squares = pl.full([BATCH, 1], dtype=pl.FP32, value=0.0)
        for k in pl.range(0, HIDDEN, TILE_K):
            part = resid[:, k : k + TILE_K]
            squares = pl.add(squares, pl.row_sum(pl.mul(part, part)))
        inverse = pl.rsqrt(pl.add(pl.mul(squares, 1.0 / HIDDEN), EPS))
        for k in pl.range(0, HIDDEN, TILE_K):
            scaled = pl.row_expand_mul(resid[:, k : k + TILE_K], inverse)
            weighted = pl.col_expand_mul(scaled, post_rms_weight[:, k : k + TILE_K])
            normed[:, k : k + TILE_K] = pl.cast(weighted, target_type=pl.BF16, mode="rint")

    inner = pl.create_tensor([BATCH, INNER], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)], name_hint="gated"):
        for n in pl.range(0, INNER, TILE_N):
            gate = product(normed, w_gate, n)
            up = product(normed, w_up, n)
            sigmoid = pl.recip(pl.add(pl.exp(pl.neg(gate)), 1.0))
            gated = pl.mul(pl.mul(gate, sigmoid), up)
            inner[:, n : n + TILE_N] = pl.cast(gated, target_type=pl.BF16, mode="rint")

    for n in pl.parallel(0, HIDDEN, TILE_N):
        with pl.at(
            level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)], name_hint="down"
        ):
            y = pl.add(product(inner, w_down, n), resid[:, n : n + TILE_N])
            out[:, n : n + TILE_N] = pl.cast(y, target_type=pl.BF16, mode="rint")
    return out


KERNEL = scope3


def specs():
    def drawn(name, rows, cols, width, dtype=torch.bfloat16):
        return TensorSpec(name, [rows, cols], dtype, lambda: torch.randn(rows, cols) / width**0.5)

    return [
        drawn("attn_out", BATCH, HIDDEN, HIDDEN),
        drawn("hidden_states", BATCH, HIDDEN, HIDDEN),
        drawn("wo", HIDDEN, HIDDEN, HIDDEN),
        drawn("post_rms_weight", 1, HIDDEN, HIDDEN, torch.float32),
        drawn("w_gate", HIDDEN, INNER, INNER),
        drawn("w_up", HIDDEN, INNER, INNER),
        drawn("w_down", INNER, HIDDEN, HIDDEN),
        TensorSpec("out", [BATCH, HIDDEN], torch.bfloat16, is_output=True),
    ]


def golden(t):
    """In FP32, rounded to BF16 where the scope keeps BF16."""
    x = {name: value.float() for name, value in t.items()}
    resid = x["attn_out"] @ x["wo"] + x["hidden_states"]
    normed = resid * torch.rsqrt(resid.square().mean(dim=-1, keepdim=True) + EPS) * x["post_rms_weight"]
    normed = normed.bfloat16().float()
    inner = torch.nn.functional.silu(normed @ x["w_gate"]) * (normed @ x["w_up"])
    t["out"][:] = (inner.bfloat16().float() @ x["w_down"] + resid).bfloat16()


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=2e-2, atol=2e-2)
