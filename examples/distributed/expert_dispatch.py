# ci: devices=4
"""Experts on all ranks: tokens go to the rank of their expert and come back, unequal numbers to each.

Each rank has sorted its tokens by the rank of their expert: block q of ``x`` is for rank q, and its first
``counts[q, 0]`` rows are tokens. The expert of a rank scales what has come by its weight, and sends it back.
"""

import torch
from ranks_harness import main

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.golden import TensorSpec

RANKS, MOST, COLS, PAD = 4, 4, 64, 8  # at most MOST tokens go from one rank to another
ROWS = RANKS * MOST


@pl.jit.incore
def dispatch(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    counts: pl.Tensor[[RANKS, PAD], pl.INT32],
    tokens: pld.DistributedTensor[[ROWS, COLS], pl.FP32],
    arrived: pld.DistributedTensor[[RANKS, PAD], pl.INT32],
    sent: pld.DistributedTensor[[RANKS, 1], pl.INT32],
):
    me = pld.rank(pld.get_comm_ctx(sent))
    for q in pl.range(RANKS):
        count = pl.cast(pl.read(counts, [q, 0]), pl.INDEX)
        for i in pl.range(count):
            row = pl.load(x, [q * MOST + i, 0], [1, COLS])
            pld.tile.remote_store(row, tokens, peer=q, offsets=[me * MOST + i, 0])
        pld.tile.remote_store(pl.load(counts, [q, 0], [1, PAD]), arrived, peer=q, offsets=[me, 0])
        pld.system.notify(sent, peer=q, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    return tokens


@pl.jit.incore
def expert(
    weight: pl.Tensor[[1, COLS], pl.FP32],
    tokens: pld.DistributedTensor[[ROWS, COLS], pl.FP32],
    arrived: pld.DistributedTensor[[RANKS, PAD], pl.INT32],
    sent: pld.DistributedTensor[[RANKS, 1], pl.INT32],
    back: pld.DistributedTensor[[ROWS, COLS], pl.FP32],
    returned: pld.DistributedTensor[[RANKS, 1], pl.INT32],
):
    me = pld.rank(pld.get_comm_ctx(sent))
    scale = pl.load(weight, [0, 0], [1, COLS])
    for q in pl.range(RANKS):
        pld.system.wait(sent, offsets=[q, 0], expected=1, cmp=pld.WaitCmp.Ge)
        count = pl.cast(pl.read(arrived, [q, 0]), pl.INDEX)
        for i in pl.range(count):
            row = pl.mul(pl.load(tokens, [q * MOST + i, 0], [1, COLS]), scale)
            pld.tile.remote_store(row, back, peer=q, offsets=[me * MOST + i, 0])
        pld.system.notify(returned, peer=q, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    return back


@pl.jit.incore
def combine(
    counts: pl.Tensor[[RANKS, PAD], pl.INT32],
    back: pld.DistributedTensor[[ROWS, COLS], pl.FP32],
    returned: pld.DistributedTensor[[RANKS, 1], pl.INT32],
    y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for q in pl.range(RANKS):
        pld.system.wait(returned, offsets=[q, 0], expected=1, cmp=pld.WaitCmp.Ge)
        count = pl.cast(pl.read(counts, [q, 0]), pl.INDEX)
        for i in pl.range(count):
            y = pl.store(pl.load(back, [q * MOST + i, 0], [1, COLS]), [q * MOST + i, 0], y)
    return y


@pl.jit
def on_rank(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    counts: pl.Tensor[[RANKS, PAD], pl.INT32],
    weight: pl.Tensor[[1, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    tokens: pld.DistributedTensor[[ROWS, COLS], pl.FP32],
    arrived: pld.DistributedTensor[[RANKS, PAD], pl.INT32],
    sent: pld.DistributedTensor[[RANKS, 1], pl.INT32],
    back: pld.DistributedTensor[[ROWS, COLS], pl.FP32],
    returned: pld.DistributedTensor[[RANKS, 1], pl.INT32],
):
    tokens = dispatch(x, counts, tokens, arrived, sent)
    back = expert(weight, tokens, arrived, sent, back, returned)
    y = combine(counts, back, returned, y)
    return y


@pl.jit.host
def expert_dispatch(
    x: pl.Tensor[[RANKS, ROWS, COLS], pl.FP32],
    counts: pl.Tensor[[RANKS, RANKS, PAD], pl.INT32],
    weight: pl.Tensor[[RANKS, 1, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[RANKS, ROWS, COLS], pl.FP32]],
):
    tokens_buf = pld.alloc_window_buffer([ROWS, COLS], dtype=pl.FP32)
    arrived_buf = pld.alloc_window_buffer([RANKS, PAD], dtype=pl.INT32)
    sent_buf = pld.alloc_window_buffer([RANKS, 1], dtype=pl.INT32)
    back_buf = pld.alloc_window_buffer([ROWS, COLS], dtype=pl.FP32)
    returned_buf = pld.alloc_window_buffer([RANKS, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        tokens = pld.window(tokens_buf, [ROWS, COLS], dtype=pl.FP32)
        arrived = pld.window(arrived_buf, [RANKS, PAD], dtype=pl.INT32)
        sent = pld.window(sent_buf, [RANKS, 1], dtype=pl.INT32)
        back = pld.window(back_buf, [ROWS, COLS], dtype=pl.FP32)
        returned = pld.window(returned_buf, [RANKS, 1], dtype=pl.INT32)
        on_rank(x[r], counts[r], weight[r], y[r], tokens, arrived, sent, back, returned, device=r)
    return y


PROGRAM = expert_dispatch


def numbers_of_tokens():
    return torch.randint(0, MOST + 1, (RANKS, RANKS, 1)).expand(RANKS, RANKS, PAD).contiguous()


def specs():
    return [
        TensorSpec("x", [RANKS, ROWS, COLS], torch.float32, torch.randn),
        TensorSpec("counts", [RANKS, RANKS, PAD], torch.int32, numbers_of_tokens),
        TensorSpec("weight", [RANKS, 1, COLS], torch.float32, torch.randn),
        TensorSpec("y", [RANKS, ROWS, COLS], torch.float32, is_output=True),
    ]


def golden(t):
    for r in range(RANKS):
        for q in range(RANKS):
            rows = slice(q * MOST, q * MOST + int(t["counts"][r, q, 0]))
            t["y"][r, rows] = t["x"][r, rows] * t["weight"][q]


if __name__ == "__main__":
    main(RANKS, PROGRAM, specs, golden)
