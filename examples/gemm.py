"""GEMM of BF16 matrices: blocks of the result, accumulated over chunks of K in FP32."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

M, K, N = 64, 512, 256
TILE_M, TILE_K, TILE_N = 32, 128, 128


@pl.jit
def gemm(
    a: pl.Tensor[[M, K], pl.BF16],
    b: pl.Tensor[[K, N], pl.BF16],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    for m in pl.parallel(0, M, TILE_M):
        for n in pl.parallel(0, N, TILE_N):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="gemm"):
                acc = pl.matmul(a[m : m + TILE_M, 0:TILE_K], b[0:TILE_K, n : n + TILE_N], out_dtype=pl.FP32)
                for k in pl.range(TILE_K, K, TILE_K):
                    left = a[m : m + TILE_M, k : k + TILE_K]
                    right = b[k : k + TILE_K, n : n + TILE_N]
                    acc = pl.matmul_acc(acc, left, right)
                c[m : m + TILE_M, n : n + TILE_N] = acc
    return c


KERNEL = gemm


def specs():
    return [
        TensorSpec("a", [M, K], torch.bfloat16, torch.randn),
        TensorSpec("b", [K, N], torch.bfloat16, torch.randn),
        TensorSpec("c", [M, N], torch.float32, is_output=True),
    ]


def golden(t):
    t["c"][:] = t["a"].float() @ t["b"].float()


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-4, atol=1e-3)
