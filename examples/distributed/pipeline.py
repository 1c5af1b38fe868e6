# ci: devices=2
"""Two stages of a pipeline: the first rank scales micro-batches and sends them, the second one adds them up.

The window at the receiver has two slots. ``full`` at the receiver counts micro-batches that have come,
``free`` at the sender those that are used up: the sender waits until the slot that it writes to is read.
"""

import torch
from ranks_harness import main

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.golden import TensorSpec

RANKS, BATCHES, ROWS, COLS, SLOTS = 2, 6, 8, 64, 2


@pl.jit.incore
def stage(
    x: pl.Tensor[[BATCHES * ROWS, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[BATCHES * ROWS, COLS], pl.FP32]],
    inbox: pl.InOut[pld.DistributedTensor[[SLOTS * ROWS, COLS], pl.FP32]],
    full: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
    free: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
):
    me = pld.rank(pld.get_comm_ctx(inbox))
    for i in pl.range(BATCHES):
        slot = (i % SLOTS) * ROWS
        if me == 0:
            scaled = pl.mul(pl.load(x, [i * ROWS, 0], [ROWS, COLS]), 2.0)
            pld.system.wait(free, offsets=[0, 0], expected=i + 1 - SLOTS, cmp=pld.WaitCmp.Ge)
            pld.tile.remote_store(scaled, inbox, peer=1, offsets=[slot, 0])
            pld.system.notify(full, peer=1, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        else:
            own = pl.load(x, [i * ROWS, 0], [ROWS, COLS])
            pld.system.wait(full, offsets=[0, 0], expected=i + 1, cmp=pld.WaitCmp.Ge)
            total = pl.add(pl.load(inbox, [slot, 0], [ROWS, COLS]), own)
            if i < BATCHES - SLOTS:  # nobody waits for later ones
                pld.system.notify(free, peer=0, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
            y = pl.store(total, [i * ROWS, 0], y)
    return y


@pl.jit
def on_rank(
    x: pl.Tensor[[BATCHES * ROWS, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[BATCHES * ROWS, COLS], pl.FP32]],
    inbox: pld.DistributedTensor[[SLOTS * ROWS, COLS], pl.FP32],
    full: pld.DistributedTensor[[1, 1], pl.INT32],
    free: pld.DistributedTensor[[1, 1], pl.INT32],
):
    y = stage(x, y, inbox, full, free)
    return y


@pl.jit.host
def pipeline(
    x: pl.Tensor[[RANKS, BATCHES * ROWS, COLS], pl.FP32],
    y: pl.Out[pl.Tensor[[RANKS, BATCHES * ROWS, COLS], pl.FP32]],
):
    inbox_buf = pld.alloc_window_buffer([SLOTS * ROWS, COLS], dtype=pl.FP32)
    full_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    free_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        inbox = pld.window(inbox_buf, [SLOTS * ROWS, COLS], dtype=pl.FP32)
        full = pld.window(full_buf, [1, 1], dtype=pl.INT32)
        free = pld.window(free_buf, [1, 1], dtype=pl.INT32)
        on_rank(x[r], y[r], inbox, full, free, device=r)
    return y


PROGRAM = pipeline


def specs():
    shape = [RANKS, BATCHES * ROWS, COLS]
    return [
        TensorSpec("x", shape, torch.float32, torch.randn),
        TensorSpec("y", shape, torch.float32, is_output=True),
    ]


def golden(t):
    t["y"][1] = 2.0 * t["x"][0] + t["x"][1]


if __name__ == "__main__":
    main(RANKS, PROGRAM, specs, golden)
