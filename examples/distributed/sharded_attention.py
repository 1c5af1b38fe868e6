# ci: devices=4
"""Attention over a sequence that is cut into shards: each rank has its own queries, keys and values.

All ranks gather the keys and values of all. A rank goes through these shards one by one and keeps the running
maximum, sum and product of the softmax, as flash attention does.
"""

import torch
from ranks_harness import main

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld
from pypto_tmpl.golden import TensorSpec

RANKS, SHARD, DIM = 4, 32, 64
SCALE = DIM**-0.5


@pl.jit.incore
def share(
    k: pl.Tensor[[SHARD, DIM], pl.FP32],
    v: pl.Tensor[[SHARD, DIM], pl.FP32],
    keys: pl.InOut[pld.DistributedTensor[[RANKS * SHARD, DIM], pl.FP32]],
    values: pl.InOut[pld.DistributedTensor[[RANKS * SHARD, DIM], pl.FP32]],
    sig: pl.InOut[pld.DistributedTensor[[RANKS, 1], pl.INT32]],
):
    me = pld.rank(pld.get_comm_ctx(sig))
    for q in pl.range(RANKS):
        pld.tensor.put(
            keys, peer=q, src=k, dst_offsets=[me * SHARD, 0], src_offsets=[0, 0], shape=[SHARD, DIM]
        )
        pld.tensor.put(
            values, peer=q, src=v, dst_offsets=[me * SHARD, 0], src_offsets=[0, 0], shape=[SHARD, DIM]
        )
        pld.system.notify(sig, peer=q, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    for q in pl.range(RANKS):
        pld.system.wait(sig, offsets=[q, 0], expected=1, cmp=pld.WaitCmp.Ge)
    return keys, values


@pl.jit
def on_rank(
    q: pl.Tensor[[SHARD, DIM], pl.FP32],
    k: pl.Tensor[[SHARD, DIM], pl.FP32],
    v: pl.Tensor[[SHARD, DIM], pl.FP32],
    out: pl.Out[pl.Tensor[[SHARD, DIM], pl.FP32]],
    keys: pld.DistributedTensor[[RANKS * SHARD, DIM], pl.FP32],
    values: pld.DistributedTensor[[RANKS * SHARD, DIM], pl.FP32],
    sig: pld.DistributedTensor[[RANKS, 1], pl.INT32],
):
    keys, values = share(k, v, keys, values, sig)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="attention"):
        scores = pl.mul(pl.matmul(q, keys[0:SHARD, :], b_trans=True), SCALE)
        most = pl.row_max(scores)
        weights = pl.exp(pl.row_expand_sub(scores, most))
        total = pl.row_sum(weights)
        product = pl.matmul(weights, values[0:SHARD, :])
        for s in pl.range(1, RANKS):
            scores = pl.mul(pl.matmul(q, keys[s * SHARD : (s + 1) * SHARD, :], b_trans=True), SCALE)
            higher = pl.maximum(most, pl.row_max(scores))
            shrink = pl.exp(pl.sub(most, higher))
            weights = pl.exp(pl.row_expand_sub(scores, higher))
            total = pl.add(pl.mul(total, shrink), pl.row_sum(weights))
            part = pl.matmul(weights, values[s * SHARD : (s + 1) * SHARD, :])
            product = pl.add(pl.row_expand_mul(product, shrink), part)
            most = higher
        out[:, :] = pl.row_expand_div(product, total)
    return out


@pl.jit.host
def sharded_attention(
    q: pl.Tensor[[RANKS, SHARD, DIM], pl.FP32],
    k: pl.Tensor[[RANKS, SHARD, DIM], pl.FP32],
    v: pl.Tensor[[RANKS, SHARD, DIM], pl.FP32],
    out: pl.Out[pl.Tensor[[RANKS, SHARD, DIM], pl.FP32]],
):
    keys_buf = pld.alloc_window_buffer([RANKS * SHARD, DIM], dtype=pl.FP32)
    values_buf = pld.alloc_window_buffer([RANKS * SHARD, DIM], dtype=pl.FP32)
    sig_buf = pld.alloc_window_buffer([RANKS, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        keys = pld.window(keys_buf, [RANKS * SHARD, DIM], dtype=pl.FP32)
        values = pld.window(values_buf, [RANKS * SHARD, DIM], dtype=pl.FP32)
        sig = pld.window(sig_buf, [RANKS, 1], dtype=pl.INT32)
        on_rank(q[r], k[r], v[r], out[r], keys, values, sig, device=r)
    return out


PROGRAM = sharded_attention


def specs():
    shape = [RANKS, SHARD, DIM]
    inputs = [TensorSpec(name, shape, torch.float32, torch.randn) for name in ("q", "k", "v")]
    return [*inputs, TensorSpec("out", shape, torch.float32, is_output=True)]


def golden(t):
    q, k, v = (t[name].reshape(RANKS * SHARD, DIM) for name in ("q", "k", "v"))
    t["out"][:] = torch.softmax(q @ k.T * SCALE, dim=-1).matmul(v).reshape(RANKS, SHARD, DIM)


if __name__ == "__main__":
    main(RANKS, PROGRAM, specs, golden, rtol=1e-4, atol=1e-4)
