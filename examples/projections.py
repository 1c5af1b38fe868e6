"""Three BF16 projections of one batch, tile product by tile product: what decoding spends its time on.

``--hidden N`` changes the width of the weights; it is read when the file is imported, as kernel files do.
At 8192 there are 6,144 products of [16, 128] x [128, 256].
"""

import argparse

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

flags = argparse.ArgumentParser(add_help=False)
flags.add_argument("--hidden", type=int, default=1024)
HIDDEN = flags.parse_known_args()[0].hidden
BATCH, TILE_K, TILE_N = 16, 128, 256


@pl.jit.inline
def project(x: pl.Tensor, weight: pl.Tensor, out: pl.Tensor):
    for n in pl.parallel(0, HIDDEN, TILE_N):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="project"):
            acc = pl.matmul(x[:, 0:TILE_K], weight[0:TILE_K, n : n + TILE_N], out_dtype=pl.FP32)
            for k in pl.range(TILE_K, HIDDEN, TILE_K):
                acc = pl.matmul_acc(acc, x[:, k : k + TILE_K], weight[k : k + TILE_K, n : n + TILE_N])
            out[:, n : n + TILE_N] = acc
    return out


@pl.jit
def projections(
    x: pl.Tensor[[BATCH, HIDDEN], pl.BF16],
    wq: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    wk: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    wv: pl.Tensor[[HIDDEN, HIDDEN], pl.BF16],
    q: pl.Out[pl.Tensor[[BATCH, HIDDEN], pl.FP32]],
    k: pl.Out[pl.Tensor[[BATCH, HIDDEN], pl.FP32]],
    v: pl.Out[pl.Tensor[[BATCH, HIDDEN], pl.FP32]],
):
    q = project(x, wq, q)
    k = project(x, wk, k)
    v = project(x, wv, v)
    return q, k, v


KERNEL = projections


def specs():
    def weight(name):
        return TensorSpec(
            name, [HIDDEN, HIDDEN], torch.bfloat16, lambda: torch.randn(HIDDEN, HIDDEN) / HIDDEN**0.5
        )

    return [
        TensorSpec("x", [BATCH, HIDDEN], torch.bfloat16, torch.randn),
        *(weight(name) for name in ("wq", "wk", "wv")),
        *(TensorSpec(name, [BATCH, HIDDEN], torch.float32, is_output=True) for name in ("q", "k", "v")),
    ]


def golden(t):
    for out, weight in (("q", "wq"), ("k", "wk"), ("v", "wv")):
        t[out][:] = t["x"].float() @ t[weight].float()


if __name__ == "__main__":
    main(KERNEL, specs, golden, [flags], rtol=1e-4, atol=1e-4, save_data=False)
