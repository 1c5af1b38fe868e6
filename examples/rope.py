"""Rotary position embedding of query heads, halves rotated, positions read from a tensor."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

BATCH, HEADS, DIM, MAX_SEQ = 8, 16, 128, 256
HALF = DIM // 2


@pl.jit
def rope(
    q: pl.Tensor[[BATCH * HEADS, DIM], pl.FP32],
    positions: pl.Tensor[[BATCH], pl.INT32],
    cos: pl.Tensor[[MAX_SEQ, HALF], pl.FP32],
    sin: pl.Tensor[[MAX_SEQ, HALF], pl.FP32],
    out: pl.Out[pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]],
):
    for b in pl.parallel(BATCH):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="rope"):
            position = pl.cast(pl.read(positions, [b]), pl.INDEX)
            c = cos[position : position + 1, :]
            s = sin[position : position + 1, :]
            r = b * HEADS
            lo = q[r : r + HEADS, 0:HALF]
            hi = q[r : r + HEADS, HALF:DIM]
            out[r : r + HEADS, 0:HALF] = pl.sub(pl.col_expand_mul(lo, c), pl.col_expand_mul(hi, s))
            out[r : r + HEADS, HALF:DIM] = pl.add(pl.col_expand_mul(hi, c), pl.col_expand_mul(lo, s))
    return out


KERNEL = rope


def angles():
    frequencies = 10000.0 ** (-torch.arange(HALF) / HALF)
    return torch.outer(torch.arange(MAX_SEQ).float(), frequencies)


def specs():
    return [
        TensorSpec("q", [BATCH * HEADS, DIM], torch.float32, torch.randn),
        TensorSpec("positions", [BATCH], torch.int32, lambda: torch.randperm(MAX_SEQ)[:BATCH]),
        TensorSpec("cos", [MAX_SEQ, HALF], torch.float32, lambda: angles().cos()),
        TensorSpec("sin", [MAX_SEQ, HALF], torch.float32, lambda: angles().sin()),
        TensorSpec("out", [BATCH * HEADS, DIM], torch.float32, is_output=True),
    ]


def golden(t):
    """The rotation as a product of complex numbers."""
    at = t["positions"].long()
    turn = torch.complex(t["cos"][at], t["sin"][at])[:, None, :]
    q = t["q"].reshape(BATCH, HEADS, DIM)
    turned = torch.complex(q[..., :HALF], q[..., HALF:]) * turn
    t["out"][:] = torch.cat([turned.real, turned.imag], dim=-1).reshape(BATCH * HEADS, DIM)


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-5, atol=1e-5)
