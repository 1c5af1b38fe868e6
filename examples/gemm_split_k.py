"""GEMM with K split over tasks, which add their parts to the result atomically."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

M, K, N = 32, 1024, 128
SPLITS, TILE_K = 4, 128
PART = K // SPLITS


@pl.jit
def gemm_split_k(
    a: pl.Tensor[[M, K], pl.BF16],
    b: pl.Tensor[[K, N], pl.BF16],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="zero"):
        c = pl.assemble(c, pl.full([M, N], dtype=pl.FP32, value=0.0), [0, 0])
    for split in pl.parallel(SPLITS):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
            k0 = split * PART
            acc = pl.matmul(a[:, k0 : k0 + TILE_K], b[k0 : k0 + TILE_K, :], out_dtype=pl.FP32)
            for k in pl.range(k0 + TILE_K, k0 + PART, TILE_K):
                acc = pl.matmul_acc(acc, a[:, k : k + TILE_K], b[k : k + TILE_K, :])
            c = pl.assemble(c, acc, [0, 0], atomic=pl.AtomicType.Add)
    return c


KERNEL = gemm_split_k


def specs():
    return [
        TensorSpec("a", [M, K], torch.bfloat16, torch.randn),
        TensorSpec("b", [K, N], torch.bfloat16, torch.randn),
        TensorSpec("c", [M, N], torch.float32, is_output=True),
    ]


def golden(t):
    t["c"][:] = (t["a"].double() @ t["b"].double()).float()


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-4, atol=1e-3)
