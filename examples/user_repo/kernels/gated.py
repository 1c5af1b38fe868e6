"""A gate whose shapes and scale its caller chooses: x * sigmoid(scale * gate), computed in FP32."""

import pypto.language as pl

BLOCK = 32


@pl.jit
def gated(x: pl.Tensor, gate: pl.Tensor, scale: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    for r in pl.parallel(0, rows, BLOCK):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="gated"):
            g = pl.mul(pl.cast(gate[r : r + BLOCK, :], pl.FP32), scale)
            sigmoid = pl.recip(pl.add(pl.exp(pl.neg(g)), 1.0))
            y = pl.mul(pl.cast(x[r : r + BLOCK, :], pl.FP32), sigmoid)
            out[r : r + BLOCK, :] = pl.cast(y, pl.BF16)
    return out
