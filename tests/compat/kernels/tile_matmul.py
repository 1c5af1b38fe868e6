"""Kernels of explicit tiles: loads into the memories of the matrix unit, stores, and a vector kernel."""

import pypto.language as pl
from launch import main

M, K, N = 64, 64, 64
HALF = 32


@pl.jit.incore
def product(
    a: pl.Tensor[[M, K], pl.FP16],
    b: pl.Tensor[[K, N], pl.FP16],
    row: pl.Scalar[pl.INDEX],
    out: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    a_mat = pl.load(a, [row, 0], [HALF, K], target_memory=pl.MemorySpace.Mat)
    b_mat = pl.load(b, [0, 0], [K, N], target_memory=pl.MemorySpace.Mat)
    a_left = pl.move(a_mat, target_memory=pl.MemorySpace.Left)
    b_right = pl.move(b_mat, target_memory=pl.MemorySpace.Right)
    acc = pl.tile.matmul(a_left, b_right)
    out = pl.store(acc, [row, 0], out)
    return out


@pl.jit.incore
def gelu(x: pl.Tensor[[M, N], pl.FP32], row: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[M, N], pl.FP32]]):
    t = pl.load(x, [row, 0], [HALF, N])
    gate = pl.tile.recip(pl.tile.adds(pl.tile.exp(pl.tile.muls(t, -1.702)), 1.0))
    out = pl.store(pl.tile.mul(t, gate), [row, 0], out)
    return out


@pl.jit
def tile_matmul(
    a: pl.Tensor[[M, K], pl.FP16],
    b: pl.Tensor[[K, N], pl.FP16],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    for i in pl.range(M // HALF):
        c = product(a, b, i * HALF, c)
        y = gelu(c, i * HALF, y)
    return c, y


def build_specs():
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("a", [M, K], torch.float16, init_value=torch.randn),
        TensorSpec("b", [K, N], torch.float16, init_value=lambda: torch.randn(K, N) / 8),
        TensorSpec("c", [M, N], torch.float32, is_output=True),
        TensorSpec("y", [M, N], torch.float32, is_output=True),
    ]


def golden_tile_matmul(t):
    import torch

    c = t["a"].float() @ t["b"].float()
    t["c"][:], t["y"][:] = c, c * torch.sigmoid(1.702 * c)


if __name__ == "__main__":
    main(tile_matmul, build_specs(), golden_tile_matmul)
