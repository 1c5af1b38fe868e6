"""TopkSort. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _assemble,
    _ci,
    _compare_shapes,
    _mrgsort_format1,
    _sort32,
    _tile_slice,
)


def main(scores, vals, idx):
    """Opaque function. In: scores. Out: vals, idx."""
    _compare_shapes(
        {
            "scores": (scores.shape, [8, 128]),
            "vals": (vals.shape, [8, 16]),
            "idx": (idx.shape, [8, 16]),
        }
    )
    for r in range(8):
        row = scores[r : r + 1, 0:128]  # FP32[1, 128]
        ids = _ci(0, [1, 128], torch.uint32, device=scores.device)  # UINT32[1, 128]
        runs = _sort32(row, ids)  # FP32[1, 256]
        merged = _mrgsort_format1(runs, 64)  # FP32[1, 256]
        pairs = _tile_slice(merged, [1, 32], [0, 0])  # FP32[1, 32]
        v = pairs[..., 0::2].clone()  # FP32[1, 16]
        i = pairs[..., 1::2].clone().view(torch.int32)  # INT32[1, 16]
        vals = _assemble(vals, v, [r, 0])  # FP32[8, 16]
        idx = _assemble(idx, i, [r, 0])  # INT32[8, 16]
    return vals, idx


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
