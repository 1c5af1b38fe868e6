"""Innermost helper: residual add and norm."""

import pypto.language as pl

TILE = 32
SCALE = 0.5


@pl.jit.inline
def add_norm(x: pl.Tensor, r: pl.Tensor):
    tmp = pl.add(x, r)
    out = pl.mul(tmp, SCALE)
    acc = pl.row_sum(pl.mul(out, out))
    inv = pl.rsqrt(pl.add(pl.mul(acc, 1.0 / TILE), 1e-6), high_precision=True)
    return pl.row_expand_mul(out, inv)
