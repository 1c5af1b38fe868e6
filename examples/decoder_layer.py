"""A small decoder layer for one token a sequence: norm, projections, attention over a cache, MLP.

Each part is an inline function with scopes of its own; the entry strings them together.
"""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec, ratio_allclose

BATCH, HIDDEN, HEADS, DIM, SEQ, INNER = 16, 128, 2, 64, 64, 256
TILE = 64
EPS = 1e-6
SCALE = DIM**-0.5


@pl.jit.inline
def rms_norm(x: pl.Tensor, gamma: pl.Tensor):
    rows, cols = x.shape
    out = pl.create_tensor([rows, cols], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="rms_norm"):
        mean = pl.mul(pl.row_sum(pl.mul(x, x)), 1.0 / cols)
        normed = pl.row_expand_mul(x, pl.rsqrt(pl.add(mean, EPS)))
        y = pl.cast(pl.col_expand_mul(normed, gamma), target_type=pl.BF16, mode="rint")
        out = pl.assemble(out, y, [0, 0])
    return out


@pl.jit.inline
def linear(x: pl.Tensor, weight: pl.Tensor):
    rows, depth = x.shape
    cols = weight.shape[1]
    out = pl.create_tensor([rows, cols], dtype=pl.FP32)
    for n in pl.parallel(0, cols, TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="linear"):
            acc = pl.matmul(x[:, 0:TILE], weight[0:TILE, n : n + TILE], out_dtype=pl.FP32)
            for k in pl.range(TILE, depth, TILE):
                acc = pl.matmul_acc(acc, x[:, k : k + TILE], weight[k : k + TILE, n : n + TILE])
            out[:, n : n + TILE] = acc
    return out


@pl.jit.inline
def attention(q: pl.Tensor, keys: pl.Tensor, values: pl.Tensor):
    """Every sequence attends to its SEQ rows of the cache, head by head."""
    out = pl.create_tensor([BATCH, HIDDEN], dtype=pl.BF16)
    for b in pl.parallel(BATCH):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="attention"):
            for h in pl.range(HEADS):
                c = h * DIM
                query = pl.cast(q[b : b + 1, c : c + DIM], target_type=pl.BF16, mode="rint")
                k = keys[b * SEQ : b * SEQ + SEQ, c : c + DIM]
                scores = pl.mul(pl.matmul(query, k, b_trans=True, out_dtype=pl.FP32), SCALE)
                e = pl.exp(pl.row_expand_sub(scores, pl.row_max(scores)))
                p = pl.cast(pl.row_expand_div(e, pl.row_sum(e)), target_type=pl.BF16, mode="rint")
                v = values[b * SEQ : b * SEQ + SEQ, c : c + DIM]
                y = pl.matmul(p, v, out_dtype=pl.FP32)
                out[b : b + 1, c : c + DIM] = pl.cast(y, target_type=pl.BF16, mode="rint")
    return out


@pl.jit.inline
def gated(gate: pl.Tensor, up: pl.Tensor):
    rows, cols = gate.shape
    out = pl.create_tensor([rows, cols], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="gated"):
        sigmoid = pl.recip(pl.add(pl.exp(pl.neg(gate)), 1.0))
        y = pl.mul(pl.mul(gate, sigmoid), up)
        out = pl.assemble(out, pl.cast(y, target_type=pl.BF16, mode="rint"), [0, 0])
    return out


@pl.jit.inline
def add(x: pl.Tensor, y: pl.Tensor):
    rows, cols = x.shape
    out = pl.create_tensor([rows, cols], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="add"):
        out = pl.assemble(out, pl.add(x, y), [0, 0])
    return out


@pl.jit
def decoder_layer(
    x: pl.Tensor[[BATCH, HIDDEN], pl.FP32],
    gamma1: pl.Tensor[[1, HIDDEN], pl.FP32],
    wq: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    keys: pl.Tensor[[BATCH * SEQ, HIDDEN], pl.BF16],
    values: pl.Tensor[[BATCH * SEQ, HIDDEN], pl.BF16],
    wo: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    gamma2: pl.Tensor[[1, HIDDEN], pl.FP32],
    w_gate: pl.Tensor[[HIDDEN, INNER], pl.BF16],
    w_up: pl.Tensor[[HIDDEN, INNER], pl.BF16],
    w_down: pl.Tensor[[INNER, HIDDEN], pl.BF16],
    out: pl.Out[pl.Tensor[[BATCH, HIDDEN], pl.FP32]],
):
    q = linear(rms_norm(x, gamma1), wq)
    mixed = attention(q, keys, values)
    hidden = add(x, linear(mixed, wo))
    normed = rms_norm(hidden, gamma2)
    inner = gated(linear(normed, w_gate), linear(normed, w_up))
    down = linear(inner, w_down)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="residual"):
        out = pl.assemble(out, pl.add(hidden, down), [0, 0])
    return out


KERNEL = decoder_layer


def specs():
    def matrix(name, rows, cols):
        return TensorSpec(name, [rows, cols], torch.bfloat16, lambda: torch.randn(rows, cols) / rows**0.5)

    def gamma(name):
        return TensorSpec(name, [1, HIDDEN], torch.float32, lambda: 1 + torch.randn(1, HIDDEN) / 8)

    return [
        TensorSpec("x", [BATCH, HIDDEN], torch.float32, torch.randn),
        gamma("gamma1"),
        matrix("wq", HIDDEN, HIDDEN),
        TensorSpec("keys", [BATCH * SEQ, HIDDEN], torch.bfloat16, torch.randn),
        TensorSpec("values", [BATCH * SEQ, HIDDEN], torch.bfloat16, torch.randn),
        matrix("wo", HIDDEN, HIDDEN),
        gamma("gamma2"),
        matrix("w_gate", HIDDEN, INNER),
        matrix("w_up", HIDDEN, INNER),
        matrix("w_down", INNER, HIDDEN),
        TensorSpec("out", [BATCH, HIDDEN], torch.float32, is_output=True),
    ]


def golden(t):
    """In FP32, without the roundings to BF16 between the parts."""

    def norm(x, gamma):
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + EPS) * gamma

    w = {name: t[name].float() for name in ("wq", "wo", "w_gate", "w_up", "w_down")}
    q = (norm(t["x"], t["gamma1"]) @ w["wq"]).reshape(BATCH, HEADS, 1, DIM)
    k = t["keys"].float().reshape(BATCH, SEQ, HEADS, DIM).transpose(1, 2)
    v = t["values"].float().reshape(BATCH, SEQ, HEADS, DIM).transpose(1, 2)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v).reshape(BATCH, HIDDEN)
    hidden = t["x"] + mixed @ w["wo"]
    normed = norm(hidden, t["gamma2"])
    inner = torch.nn.functional.silu(normed @ w["w_gate"]) * (normed @ w["w_up"])
    t["out"][:] = hidden + inner @ w["w_down"]


if __name__ == "__main__":
    compare = ratio_allclose(atol=2e-2, rtol=2e-2, max_error_ratio=0.01)
    main(KERNEL, specs, golden, compare_fn={"out": compare})
