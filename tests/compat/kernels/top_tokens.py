"""Sampling: the largest logits of each row by sorting blocks and merging them, with their positions."""

import pypto.language as pl
from launch import main

B, V, K = 8, 256, 32


@pl.jit.inline
def sort_row(logits: pl.Tensor[[B, V], pl.FP32], b: pl.Scalar[pl.INDEX]):
    ids = pl.arange(0, [1, V], dtype=pl.UINT32)
    pairs = pl.tensor.sort32(logits[b : b + 1, :], ids)
    pairs = pl.tensor.mrgsort(pairs, block_len=64)
    return pl.tensor.mrgsort(pairs, block_len=256)


@pl.jit
def top_tokens(
    logits: pl.Tensor[[B, V], pl.FP32],
    temperature: pl.Scalar[pl.FP32],
    values: pl.Out[pl.Tensor[[B, K], pl.FP32]],
    tokens: pl.Out[pl.Tensor[[B, K], pl.INT32]],
    probs: pl.Out[pl.Tensor[[B, K], pl.FP32]],
):
    for b in pl.parallel(B):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="sort"):
            pairs = sort_row(logits, b)
            best = pairs[:, 0 : 2 * K]
            found = pl.tensor.gather(best, mask_pattern=pl.tile.MaskPattern.P0101)
            values = pl.assemble(values, found, [b, 0])
            where = pl.tensor.gather(best, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.INT32)
            tokens = pl.assemble(tokens, where, [b, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="probs"):
            row = pl.mul(values[b : b + 1, :], temperature)
            e = pl.exp(pl.row_expand_sub(row, pl.row_max(row)))
            probs = pl.assemble(probs, pl.row_expand_div(e, pl.row_sum(e)), [b, 0])
    return values, tokens, probs


def build_specs():
    import torch
    from golden import ScalarSpec, TensorSpec

    def distinct():
        return torch.stack([torch.randperm(V) for _ in range(B)]).float() / 16

    return [
        TensorSpec("logits", [B, V], torch.float32, init_value=distinct),
        ScalarSpec("temperature", torch.float32, 0.5),
        TensorSpec("values", [B, K], torch.float32, is_output=True),
        TensorSpec("tokens", [B, K], torch.int32, is_output=True),
        TensorSpec("probs", [B, K], torch.float32, is_output=True),
    ]


def golden_top_tokens(t):
    import torch

    values, tokens = torch.topk(t["logits"], K, dim=-1)
    t["values"][:], t["tokens"][:] = values, tokens
    t["probs"][:] = torch.softmax(values * t["temperature"], dim=-1)


if __name__ == "__main__":
    main(top_tokens, build_specs(), golden_top_tokens, rtol=1e-5, atol=1e-5)
