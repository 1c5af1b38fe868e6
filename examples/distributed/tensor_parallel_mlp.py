# ci: devices=4
"""An MLP whose weights are split over the ranks: each has some columns of the first, and rows of the second.

Every rank computes its part of the hidden layer and a partial product, and all partial products are added up
by an all-reduce over the window that they lie in.
"""

import torch
from ranks_harness import main

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.golden import TensorSpec

RANKS, ROWS, WIDTH, HIDDEN = 4, 64, 128, 64  # HIDDEN is a rank's part


@pl.jit.incore
def reduce_over_ranks(
    part: pl.InOut[pld.DistributedTensor[[ROWS, WIDTH], pl.FP32]],
    sig: pl.InOut[pld.DistributedTensor[[RANKS, 1], pl.INT32]],
    y: pl.Out[pl.Tensor[[ROWS, WIDTH], pl.FP32]],
):
    part = pld.tensor.allreduce(part, sig, op=pld.ReduceOp.Sum)
    y = pl.store(pl.load(part, [0, 0], [ROWS, WIDTH]), [0, 0], y)
    return y


@pl.jit
def on_rank(
    x: pl.Tensor[[ROWS, WIDTH], pl.FP32],
    up: pl.Tensor[[WIDTH, HIDDEN], pl.FP32],
    down: pl.Tensor[[HIDDEN, WIDTH], pl.FP32],
    y: pl.Out[pl.Tensor[[ROWS, WIDTH], pl.FP32]],
    part: pld.DistributedTensor[[ROWS, WIDTH], pl.FP32],
    sig: pld.DistributedTensor[[RANKS, 1], pl.INT32],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mlp"):
        hidden = pl.maximum(pl.matmul(x, up), 0.0)
        part[:, :] = pl.matmul(hidden, down)
    y = reduce_over_ranks(part, sig, y)
    return y


@pl.jit.host
def tensor_parallel_mlp(
    x: pl.Tensor[[ROWS, WIDTH], pl.FP32],
    up: pl.Tensor[[RANKS, WIDTH, HIDDEN], pl.FP32],
    down: pl.Tensor[[RANKS, HIDDEN, WIDTH], pl.FP32],
    y: pl.Out[pl.Tensor[[RANKS, ROWS, WIDTH], pl.FP32]],
):
    part_buf = pld.alloc_window_buffer([ROWS, WIDTH], dtype=pl.FP32)
    sig_buf = pld.alloc_window_buffer([RANKS, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        part = pld.window(part_buf, [ROWS, WIDTH], dtype=pl.FP32)
        sig = pld.window(sig_buf, [RANKS, 1], dtype=pl.INT32)
        on_rank(x, up[r], down[r], y[r], part, sig, device=r)
    return y


PROGRAM = tensor_parallel_mlp


def specs():
    return [
        TensorSpec("x", [ROWS, WIDTH], torch.float32, torch.randn),
        TensorSpec("up", [RANKS, WIDTH, HIDDEN], torch.float32, torch.randn),
        TensorSpec("down", [RANKS, HIDDEN, WIDTH], torch.float32, torch.randn),
        TensorSpec("y", [RANKS, ROWS, WIDTH], torch.float32, is_output=True),
    ]


def golden(t):
    up = t["up"].permute(1, 0, 2).reshape(WIDTH, RANKS * HIDDEN)
    down = t["down"].reshape(RANKS * HIDDEN, WIDTH)
    t["y"][:] = (t["x"] @ up).relu() @ down


if __name__ == "__main__":
    main(RANKS, PROGRAM, specs, golden, rtol=1e-4, atol=1e-2)
