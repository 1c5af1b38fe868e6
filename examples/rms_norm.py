"""RMS norm of BF16 rows; statistics and product are in FP32, in chunks of columns."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec, ratio_allclose

ROWS, HIDDEN, BLOCK, CHUNK = 64, 1024, 16, 256
EPS = 1e-6
HIDDEN_INV = 1.0 / HIDDEN


@pl.jit
def rms_norm(
    x: pl.Tensor[[ROWS, HIDDEN], pl.BF16],
    gamma: pl.Tensor[[1, HIDDEN], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, HIDDEN], pl.BF16]],
):
    for r in pl.parallel(0, ROWS, BLOCK):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="rms_norm"):
            total = pl.full([BLOCK, 1], dtype=pl.FP32, value=0.0)
            for c in pl.range(0, HIDDEN, CHUNK):
                part = pl.cast(x[r : r + BLOCK, c : c + CHUNK], target_type=pl.FP32)
                total = pl.add(total, pl.row_sum(pl.mul(part, part)))
            scale = pl.rsqrt(pl.add(pl.mul(total, HIDDEN_INV), EPS))
            for c in pl.range(0, HIDDEN, CHUNK):
                part = pl.cast(x[r : r + BLOCK, c : c + CHUNK], target_type=pl.FP32)
                y = pl.col_expand_mul(pl.row_expand_mul(part, scale), gamma[:, c : c + CHUNK])
                out[r : r + BLOCK, c : c + CHUNK] = pl.cast(y, target_type=pl.BF16, mode="rint")
    return out


KERNEL = rms_norm


def specs():
    return [
        TensorSpec("x", [ROWS, HIDDEN], torch.bfloat16, torch.randn),
        TensorSpec("gamma", [1, HIDDEN], torch.float32, lambda: 1 + torch.randn(1, HIDDEN) / 8),
        TensorSpec("out", [ROWS, HIDDEN], torch.bfloat16, is_output=True),
    ]


def golden(t):
    x = t["x"].float()
    scale = torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + EPS)
    t["out"][:] = (x * scale * t["gamma"]).bfloat16()


if __name__ == "__main__":
    main(KERNEL, specs, golden, compare_fn={"out": ratio_allclose(atol=1e-4, rtol=1 / 128)})
