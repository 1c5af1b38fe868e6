"""The largest K scores of each row and where they are, by runs of 32 that are sorted and merged."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec, topk_pair_compare

ROWS, COLS, K = 8, 128, 16


@pl.jit
def topk(
    scores: pl.Tensor[[ROWS, COLS], pl.FP32],
    values: pl.Out[pl.Tensor[[ROWS, K], pl.FP32]],
    indices: pl.Out[pl.Tensor[[ROWS, K], pl.INT32]],
):
    for r in pl.parallel(ROWS):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="topk"):
            ids = pl.arange(0, [1, COLS], dtype=pl.UINT32)
            runs = pl.sort32(scores[r : r + 1, :], ids)
            merged = pl.mrgsort(runs, block_len=64)
            pairs = merged[:, 0 : 2 * K]
            v = pl.gather(pairs, mask_pattern=pl.tile.MaskPattern.P0101)
            i = pl.gather(pairs, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.INT32)
            values = pl.assemble(values, v, [r, 0])
            indices = pl.assemble(indices, i, [r, 0])
    return values, indices


KERNEL = topk


def specs():
    return [
        TensorSpec("scores", [ROWS, COLS], torch.float32, torch.randn),
        TensorSpec("values", [ROWS, K], torch.float32, is_output=True),
        TensorSpec("indices", [ROWS, K], torch.int32, is_output=True),
    ]


def golden(t):
    best = torch.topk(t["scores"], K, dim=-1)
    t["values"][:], t["indices"][:] = best.values, best.indices.int()


if __name__ == "__main__":
    main(KERNEL, specs, golden, compare_fn={"indices": topk_pair_compare("values")})
