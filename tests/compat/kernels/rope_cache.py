"""Rotary embedding of Q and K with cos/sin tables, and the paged update of a 5-D KV cache."""

import pypto.language as pl
from decode_config import SMALL as C

B, H, D = C.batch, C.heads, C.head_dim
KV = C.kv_heads
HALF = D // 2
MAX_SEQ = C.max_seq
BLOCK = C.block_size
NUM_BLOCKS = 80
MAX_BLOCKS = MAX_SEQ // BLOCK
KV_ROWS = KV * B
CACHE_ROWS = NUM_BLOCKS * BLOCK * KV

POOL = pl.dynamic("POOL")


@pl.jit.inline
def rotate(x: pl.Tensor, cos: pl.Tensor, sin: pl.Tensor):
    lo = x[:, 0:HALF]
    hi = x[:, HALF:D]
    r_lo = pl.sub(pl.col_expand_mul(lo, cos[:, 0:HALF]), pl.col_expand_mul(hi, sin[:, 0:HALF]))
    r_hi = pl.add(pl.col_expand_mul(hi, cos[:, HALF:D]), pl.col_expand_mul(lo, sin[:, HALF:D]))
    return pl.concat(r_lo, r_hi)


@pl.jit
def rope_cache(
    q: pl.Tensor[[B, H * D], pl.FP32],
    k: pl.Tensor[[B, KV * D], pl.FP32],
    v: pl.Tensor[[B, KV * D], pl.FP32],
    cos_table: pl.Tensor[[MAX_SEQ, D], pl.FP32],
    sin_table: pl.Tensor[[MAX_SEQ, D], pl.FP32],
    block_table: pl.Tensor[[B * MAX_BLOCKS], pl.INT32],
    seq_lens: pl.Tensor[[B], pl.INT32],
    k_cache: pl.InOut[pl.Tensor[[1, POOL, BLOCK, KV, D], pl.BF16]],
    v_cache: pl.InOut[pl.Tensor[[1, POOL, BLOCK, KV, D], pl.BF16]],
    slots: pl.Out[pl.Tensor[[B, 1], pl.INT32]],
    q_rot: pl.Out[pl.Tensor[[B * H, D], pl.BF16]],
):
    pool = pl.tensor.dim(k_cache, 1)
    k_rows = pl.reshape(k_cache, [pool * BLOCK * KV, D])
    v_rows = pl.reshape(v_cache, [pool * BLOCK * KV, D])
    for b in pl.parallel(0, B, 1):
        pos = pl.cast(pl.read(seq_lens, [b]), pl.INDEX) - 1
        block = pl.cast(pl.tensor.read(block_table, [b * MAX_BLOCKS + pos // BLOCK]), pl.INDEX)
        slot = block * BLOCK + pos % BLOCK
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="rope_q"):
            cos = pl.slice(cos_table, [1, D], [pos, 0])
            sin = pl.slice(sin_table, [1, D], [pos, 0])
            heads = pl.reshape(pl.slice(q, [1, H * D], [b, 0]), [H, D])
            turned = rotate(heads, cos, sin)
            q_rot = pl.assemble(q_rot, pl.cast(turned, pl.BF16), [b * H, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="rope_kv"):
            cos_k = cos_table[pos : pos + 1, :]
            sin_k = sin_table[pos : pos + 1, :]
            for h in pl.unroll(KV):
                row = slot * KV + h
                kh = k[b : b + 1, h * D : (h + 1) * D]
                kr = rotate(kh, cos_k, sin_k)
                k_rows = pl.assemble(k_rows, pl.cast(kr, target_type=pl.BF16, mode="rint"), [row, 0])
                v_rows[row : row + 1, :] = pl.cast(v[b : b + 1, h * D : (h + 1) * D], pl.BF16)
            pl.write(slots, [b, 0], pl.cast(slot, pl.INT32))
    return k_cache, v_cache, slots, q_rot


def build_specs():
    import functools

    import torch
    from golden import TensorSpec

    @functools.cache
    def angles():
        freq = 1.0 / 10000 ** (torch.arange(HALF).float() / HALF)
        a = torch.outer(torch.arange(MAX_SEQ).float(), freq)
        return torch.cat([a, a], dim=1)

    def init_table():
        return torch.randperm(NUM_BLOCKS)[: B * MAX_BLOCKS].to(torch.int32)

    def init_lens():
        return torch.randint(1, MAX_SEQ + 1, (B,), dtype=torch.int32)

    cache = [1, NUM_BLOCKS, BLOCK, KV, D]
    return [
        TensorSpec("q", [B, H * D], torch.float32, init_value=torch.randn),
        TensorSpec("k", [B, KV * D], torch.float32, init_value=torch.randn),
        TensorSpec("v", [B, KV * D], torch.float32, init_value=torch.randn),
        TensorSpec("cos_table", [MAX_SEQ, D], torch.float32, init_value=lambda: angles().cos()),
        TensorSpec("sin_table", [MAX_SEQ, D], torch.float32, init_value=lambda: angles().sin()),
        TensorSpec("block_table", [B * MAX_BLOCKS], torch.int32, init_value=init_table),
        TensorSpec("seq_lens", [B], torch.int32, init_value=init_lens),
        TensorSpec("k_cache", cache, torch.bfloat16, init_value=torch.randn, is_output=True),
        TensorSpec("v_cache", cache, torch.bfloat16, init_value=torch.randn, is_output=True),
        TensorSpec("slots", [B, 1], torch.int32, is_output=True),
        TensorSpec("q_rot", [B * H, D], torch.bfloat16, is_output=True),
    ]


def golden_rope(t):
    import torch

    def turn(x, c, s):
        half = torch.cat([-x[..., HALF:], x[..., :HALF]], -1)
        return x * c + half * s

    for b in range(B):
        pos = int(t["seq_lens"][b]) - 1
        c, s = t["cos_table"][pos], t["sin_table"][pos]
        block = int(t["block_table"][b * MAX_BLOCKS + pos // BLOCK])
        t["q_rot"][b * H : (b + 1) * H] = turn(t["q"][b].view(H, D), c, s).bfloat16()
        t["k_cache"][0, block, pos % BLOCK] = turn(t["k"][b].view(KV, D), c, s).bfloat16()
        t["v_cache"][0, block, pos % BLOCK] = t["v"][b].view(KV, D).bfloat16()
        t["slots"][b, 0] = block * BLOCK + pos % BLOCK


if __name__ == "__main__":
    from golden import ratio_allclose
    from launch import main

    step = ratio_allclose(atol=1e-4, rtol=1 / 128)
    main(rope_cache, build_specs(), golden_rope, compare_fn={"k_cache": step, "q_rot": step})
