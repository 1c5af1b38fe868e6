"""Paged decode attention: scores, partial softmax and values per block of the cache, merged at the end.

Stages are SPMD tasks with explicit dependencies in a manual scope.
"""

import pypto.language as pl
from decode_config import SMALL as C

B, H, D, KV = 4, C.heads, C.head_dim, C.kv_heads
GROUP = H // KV
BLOCK = C.block_size
MAX_BLOCKS = C.max_seq // BLOCK
SPLITS = 2
PER_SPLIT = MAX_BLOCKS // SPLITS
SCALE = 1.0 / (D**0.5)
NEG = -3.0e38
POOL = pl.dynamic("POOL")
PAIRS = B * KV
ROWS = PAIRS * GROUP


@pl.jit.inline(auto_scope=False)
def attend(
    q: pl.Tensor[[ROWS, D], pl.BF16],
    k_rows: pl.Tensor,
    v_rows: pl.Tensor,
    block_table: pl.Tensor[[B, MAX_BLOCKS], pl.INT32],
    seq_lens: pl.Tensor[[B], pl.INT32],
    part_o: pl.Tensor[[SPLITS * ROWS, D], pl.FP32],
    part_m: pl.Tensor[[SPLITS * ROWS, 1], pl.FP32],
    part_l: pl.Tensor[[SPLITS * ROWS, 1], pl.FP32],
    start: pl.Scalar[pl.TASK_ID],
    tids: pl.Array[SPLITS, pl.TASK_ID],
):
    for s in pl.unroll(SPLITS):
        with pl.spmd(PAIRS, name_hint="attend", deps=[start]) as tid:
            pair = pl.tile.get_block_idx()
            b = pair // KV
            kvh = pair % KV
            length = pl.cast(pl.read(seq_lens, [b]), pl.INDEX)
            query = q[pair * GROUP : pair * GROUP + GROUP, :]
            m = pl.full([GROUP, 1], dtype=pl.FP32, value=NEG)
            denom = pl.full([GROUP, 1], dtype=pl.FP32, value=0.0)
            o = pl.full([GROUP, D], dtype=pl.FP32, value=0.0)
            for j in pl.pipeline(s * PER_SPLIT, (s + 1) * PER_SPLIT, stage=2):
                left = length - j * BLOCK
                if left > 0:
                    valid = pl.min(left, BLOCK)
                    block = pl.cast(pl.read(block_table, [b, j]), pl.INDEX)
                    base = (block * KV + kvh) * BLOCK
                    keys = pl.slice(k_rows, [BLOCK, D], [base, 0], valid_shape=[valid, D])
                    scores = pl.mul(pl.matmul(query, keys, b_trans=True, out_dtype=pl.FP32), SCALE)
                    scores = pl.fillpad(pl.set_validshape(scores, GROUP, valid), pad_value=pl.PadValue.min)
                    m_new = pl.maximum(m, pl.row_max(scores))
                    p = pl.exp(pl.row_expand_sub(scores, m_new))
                    alpha = pl.exp(pl.sub(m, m_new))
                    denom = pl.add(pl.mul(denom, alpha), pl.row_sum(p))
                    values = pl.fillpad(
                        pl.slice(v_rows, [BLOCK, D], [base, 0], valid_shape=[valid, D]),
                        pad_value=pl.PadValue.zero,
                    )
                    o = pl.add(
                        pl.row_expand_mul(o, alpha),
                        pl.matmul(pl.cast(p, target_type=pl.BF16, mode="rint"), values, out_dtype=pl.FP32),
                    )
                    m = m_new
            r0 = s * ROWS + pair * GROUP
            part_o[r0 : r0 + GROUP, :] = o
            part_m[r0 : r0 + GROUP, :] = m
            part_l[r0 : r0 + GROUP, :] = denom
        tids[s] = tid
    return part_o, part_m, part_l


@pl.jit(auto_scope=False)
def flash_decode(
    q: pl.Tensor[[ROWS, D], pl.BF16],
    k_cache: pl.Tensor[[POOL, KV, BLOCK, D], pl.BF16],
    v_cache: pl.Tensor[[POOL, KV, BLOCK, D], pl.BF16],
    block_table: pl.Tensor[[B, MAX_BLOCKS], pl.INT32],
    seq_lens: pl.Tensor[[B], pl.INT32],
    out: pl.Out[pl.Tensor[[ROWS, D], pl.FP32]],
):
    pool = pl.tensor.dim(k_cache, 0)
    k_rows = pl.reshape(k_cache, [pool * KV * BLOCK, D])
    v_rows = pl.reshape(v_cache, [pool * KV * BLOCK, D])
    with pl.manual_scope():
        part_o = pl.create_tensor([SPLITS * ROWS, D], dtype=pl.FP32, manual_dep=True)
        part_m = pl.create_tensor([SPLITS * ROWS, 1], dtype=pl.FP32, manual_dep=True)
        part_l = pl.create_tensor([SPLITS * ROWS, 1], dtype=pl.FP32, manual_dep=True)
        tids = pl.array.create(SPLITS, pl.TASK_ID)
        start = pl.system.task_dummy(deps=[])
        part_o, part_m, part_l = attend(
            q, k_rows, v_rows, block_table, seq_lens, part_o, part_m, part_l, start, tids
        )
        joined = pl.system.task_dummy(deps=[tids[i] for i in range(SPLITS)])
        with pl.spmd(PAIRS, name_hint="merge", deps=[joined], allow_early_resolve=True) as merged:
            pair = pl.tile.get_block_idx()
            r0 = pair * GROUP
            m = part_m[r0 : r0 + GROUP, :]
            for s in pl.range(1, SPLITS):
                m = pl.maximum(m, part_m[s * ROWS + r0 : s * ROWS + r0 + GROUP, :])
            denom = pl.full([GROUP, 1], dtype=pl.FP32, value=0.0)
            o = pl.full([GROUP, D], dtype=pl.FP32, value=0.0)
            for s in pl.range(SPLITS):
                w = pl.exp(pl.sub(part_m[s * ROWS + r0 : s * ROWS + r0 + GROUP, :], m))
                denom = pl.add(denom, pl.mul(w, part_l[s * ROWS + r0 : s * ROWS + r0 + GROUP, :]))
                o = pl.add(o, pl.row_expand_mul(part_o[s * ROWS + r0 : s * ROWS + r0 + GROUP, :], w))
            out[r0 : r0 + GROUP, :] = pl.row_expand_mul(o, pl.recip(denom))
        pl.system.task_dummy(deps=[merged])
    return out


def build_specs():
    import torch
    from golden import TensorSpec

    pool = B * MAX_BLOCKS + 3
    return [
        TensorSpec("q", [ROWS, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec("k_cache", [pool, KV, BLOCK, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec("v_cache", [pool, KV, BLOCK, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec(
            "block_table",
            [B, MAX_BLOCKS],
            torch.int32,
            init_value=lambda: torch.randperm(pool)[: B * MAX_BLOCKS].view(B, MAX_BLOCKS).int(),
        ),
        TensorSpec(
            "seq_lens", [B], torch.int32, init_value=torch.tensor([1, 37, 96, 128], dtype=torch.int32)
        ),
        TensorSpec("out", [ROWS, D], torch.float32, is_output=True),
    ]


def golden_attention(t):
    import torch

    q = t["q"].float().view(B, KV, GROUP, D)
    out = torch.zeros(B, KV, GROUP, D)
    for b in range(B):
        n = int(t["seq_lens"][b])
        ids = t["block_table"][b].long()
        for h in range(KV):
            k = t["k_cache"][ids, h].reshape(-1, D)[:n].float()
            v = t["v_cache"][ids, h].reshape(-1, D)[:n].float()
            out[b, h] = torch.softmax(q[b, h] @ k.T * SCALE, -1) @ v
    t["out"][:] = out.view(ROWS, D)


if __name__ == "__main__":
    from launch import main

    main(flash_decode, build_specs(), golden_attention, rtol=1e-2, atol=1e-2)
