"""Attention over long sequences in small blocks: many steps, each of little work.

Steps are what a script's own costs show in: windows, copies and casts beside products of 16 x 32 cells.
"""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

HEADS, DIM = 4, 64
ROWS, BLOCK = 16, 32
SEQ = 1024
SCALE = DIM**-0.5


@pl.jit
def attention(
    q: pl.Tensor[[HEADS * SEQ, DIM], pl.BF16],
    k: pl.Tensor[[HEADS * SEQ, DIM], pl.BF16],
    v: pl.Tensor[[HEADS * SEQ, DIM], pl.BF16],
    out: pl.Out[pl.Tensor[[HEADS * SEQ, DIM], pl.FP32]],
):
    for h in pl.parallel(HEADS):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="attention"):
            for i in pl.range(SEQ // ROWS):
                query = q[h * SEQ + i * ROWS : h * SEQ + i * ROWS + ROWS, :]
                best = pl.full([ROWS, 1], dtype=pl.FP32, value=-1.0e30)
                total = pl.full([ROWS, 1], dtype=pl.FP32, value=0.0)
                acc = pl.full([ROWS, DIM], dtype=pl.FP32, value=0.0)
                for j in pl.range(SEQ // BLOCK):
                    keys = k[h * SEQ + j * BLOCK : h * SEQ + j * BLOCK + BLOCK, :]
                    values = v[h * SEQ + j * BLOCK : h * SEQ + j * BLOCK + BLOCK, :]
                    scores = pl.mul(pl.matmul(query, keys, b_trans=True, out_dtype=pl.FP32), SCALE)
                    higher = pl.maximum(best, pl.row_max(scores))
                    weights = pl.exp(pl.row_expand_sub(scores, higher))
                    shrink = pl.exp(pl.sub(best, higher))
                    total = pl.add(pl.mul(total, shrink), pl.row_sum(weights))
                    part = pl.matmul(pl.cast(weights, target_type=pl.BF16), values, out_dtype=pl.FP32)
                    acc = pl.add(pl.row_expand_mul(acc, shrink), part)
                    best = higher
                out[h * SEQ + i * ROWS : h * SEQ + i * ROWS + ROWS, :] = pl.row_expand_div(acc, total)
    return out


KERNEL = attention


def specs():
    shape = [HEADS * SEQ, DIM]
    return [
        TensorSpec("q", shape, torch.bfloat16, torch.randn),
        TensorSpec("k", shape, torch.bfloat16, torch.randn),
        TensorSpec("v", shape, torch.bfloat16, torch.randn),
        TensorSpec("out", shape, torch.float32, is_output=True),
    ]


def golden(t):
    q, k, v = (t[name].float().reshape(HEADS, SEQ, DIM) for name in "qkv")
    t["out"][:] = (torch.softmax(q @ k.mT * SCALE, dim=-1) @ v).reshape(HEADS * SEQ, DIM)


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-2, atol=1e-2)  # the weights are rounded to BF16
