# ci: devices=4
"""Sum over all ranks, as a ring: each rank passes on what it got from the rank before it.

In P - 1 steps every chunk goes around and gathers a sum, in P - 1 more the sums go around. Each step has a
row of its own in the window of the receiver, so that nothing is overwritten that somebody still reads.
"""

import torch
from ranks_harness import main

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.golden import TensorSpec

RANKS, CHUNK = 4, 64
STEPS = RANKS - 1


@pl.jit.incore
def ring(
    x: pl.Tensor[[RANKS, CHUNK], pl.FP32],
    total: pl.Out[pl.Tensor[[RANKS, CHUNK], pl.FP32]],
    inbox: pl.InOut[pld.DistributedTensor[[2 * STEPS, CHUNK], pl.FP32]],
    arrived: pl.InOut[pld.DistributedTensor[[2 * STEPS, 1], pl.INT32]],
):
    me = pld.rank(pld.get_comm_ctx(inbox))
    following = (me + 1) % RANKS
    part = pl.load(x, [me, 0], [1, CHUNK])
    for step in pl.range(STEPS):
        pld.tile.remote_store(part, inbox, peer=following, offsets=[step, 0])
        pld.system.notify(arrived, peer=following, offsets=[step, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(arrived, offsets=[step, 0], expected=1, cmp=pld.WaitCmp.Ge)
        own = pl.load(x, [(me + RANKS - 1 - step) % RANKS, 0], [1, CHUNK])
        part = pl.add(pl.load(inbox, [step, 0], [1, CHUNK]), own)
    total = pl.store(part, [following, 0], total)
    for step in pl.range(STEPS, 2 * STEPS):
        pld.tile.remote_store(part, inbox, peer=following, offsets=[step, 0])
        pld.system.notify(arrived, peer=following, offsets=[step, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(arrived, offsets=[step, 0], expected=1, cmp=pld.WaitCmp.Ge)
        part = pl.load(inbox, [step, 0], [1, CHUNK])
        total = pl.store(part, [(me + RANKS + STEPS - step) % RANKS, 0], total)
    return total


@pl.jit
def on_rank(
    x: pl.Tensor[[RANKS, CHUNK], pl.FP32],
    total: pl.Out[pl.Tensor[[RANKS, CHUNK], pl.FP32]],
    inbox: pld.DistributedTensor[[2 * STEPS, CHUNK], pl.FP32],
    arrived: pld.DistributedTensor[[2 * STEPS, 1], pl.INT32],
):
    total = ring(x, total, inbox, arrived)
    return total


@pl.jit.host
def ring_all_reduce(
    x: pl.Tensor[[RANKS, RANKS, CHUNK], pl.FP32],
    total: pl.Out[pl.Tensor[[RANKS, RANKS, CHUNK], pl.FP32]],
):
    inbox_buf = pld.alloc_window_buffer([2 * STEPS, CHUNK], dtype=pl.FP32)
    arrived_buf = pld.alloc_window_buffer([2 * STEPS, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        inbox = pld.window(inbox_buf, [2 * STEPS, CHUNK], dtype=pl.FP32)
        arrived = pld.window(arrived_buf, [2 * STEPS, 1], dtype=pl.INT32)
        on_rank(x[r], total[r], inbox, arrived, device=r)
    return total


PROGRAM = ring_all_reduce


def specs():
    return [
        TensorSpec("x", [RANKS, RANKS, CHUNK], torch.float32, torch.randn),
        TensorSpec("total", [RANKS, RANKS, CHUNK], torch.float32, is_output=True),
    ]


def golden(t):
    t["total"][:] = t["x"].sum(dim=0)


if __name__ == "__main__":
    main(RANKS, PROGRAM, specs, golden)
