"""Decode attention over a paged cache: a block table says which blocks hold a sequence's keys and values.

Sequences have lengths of their own; the last block of each may be partly filled. The softmax is online.
"""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec

BATCH, HEADS, DIM = 4, 16, 64
BLOCK, MAX_BLOCKS, POOL = 32, 6, 40
SCALE = DIM**-0.5


@pl.jit
def paged_attention(
    q: pl.Tensor[[BATCH * HEADS, DIM], pl.BF16],
    keys: pl.Tensor[[POOL * BLOCK, DIM], pl.BF16],
    values: pl.Tensor[[POOL * BLOCK, DIM], pl.BF16],
    table: pl.Tensor[[BATCH, MAX_BLOCKS], pl.INT32],
    lengths: pl.Tensor[[BATCH], pl.INT32],
    out: pl.Out[pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]],
):
    for b in pl.parallel(BATCH):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="paged_attention"):
            length = pl.cast(pl.read(lengths, [b]), pl.INDEX)
            query = q[b * HEADS : b * HEADS + HEADS, :]
            best = pl.full([HEADS, 1], dtype=pl.FP32, value=-1.0e30)
            total = pl.full([HEADS, 1], dtype=pl.FP32, value=0.0)
            acc = pl.full([HEADS, DIM], dtype=pl.FP32, value=0.0)
            for j in pl.range((length + BLOCK - 1) // BLOCK):
                row = pl.cast(pl.read(table, [b, j]), pl.INDEX) * BLOCK
                valid = pl.min(BLOCK, length - j * BLOCK)
                scores = pl.matmul(query, keys[row : row + BLOCK, :], b_trans=True, out_dtype=pl.FP32)
                scores = pl.mul(scores, SCALE)
                scores = pl.fillpad(pl.set_validshape(scores, HEADS, valid), pad_value=pl.PadValue.min)
                higher = pl.maximum(best, pl.row_max(scores))
                weights = pl.exp(pl.row_expand_sub(scores, higher))
                shrink = pl.exp(pl.sub(best, higher))
                total = pl.add(pl.mul(total, shrink), pl.row_sum(weights))
                part = pl.matmul(
                    pl.cast(weights, target_type=pl.BF16, mode="rint"),
                    values[row : row + BLOCK, :],
                    out_dtype=pl.FP32,
                )
                acc = pl.add(pl.row_expand_mul(acc, shrink), part)
                best = higher
            out[b * HEADS : b * HEADS + HEADS, :] = pl.row_expand_div(acc, total)
    return out


KERNEL = paged_attention


def specs():
    def blocks():
        return torch.randperm(POOL)[: BATCH * MAX_BLOCKS].reshape(BATCH, MAX_BLOCKS)

    return [
        TensorSpec("q", [BATCH * HEADS, DIM], torch.bfloat16, torch.randn),
        TensorSpec("keys", [POOL * BLOCK, DIM], torch.bfloat16, torch.randn),
        TensorSpec("values", [POOL * BLOCK, DIM], torch.bfloat16, torch.randn),
        TensorSpec("table", [BATCH, MAX_BLOCKS], torch.int32, blocks),
        TensorSpec("lengths", [BATCH], torch.int32, lambda: torch.tensor([1, 32, 77, 192])),
        TensorSpec("out", [BATCH * HEADS, DIM], torch.float32, is_output=True),
    ]


def golden(t):
    for b, length in enumerate(t["lengths"].tolist()):
        slots = (t["table"][b].long()[:, None] * BLOCK + torch.arange(BLOCK)).reshape(-1)[:length]
        heads = slice(b * HEADS, (b + 1) * HEADS)
        q, k, v = t["q"][heads].float(), t["keys"][slots].float(), t["values"][slots].float()
        t["out"][heads] = torch.softmax(q @ k.T * SCALE, dim=-1) @ v


if __name__ == "__main__":
    main(KERNEL, specs, golden, rtol=1e-2, atol=1e-2)  # the weights are rounded to BF16
