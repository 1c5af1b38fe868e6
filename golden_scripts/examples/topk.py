"""_jit_topk. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _assemble,
    _ci,
    _compare_shapes,
    _mrgsort_format1,
    _sort32,
    _tile_slice,
)


def topk(scores, values, indices):
    """Orchestration function. In: scores. Out: values, indices."""
    _compare_shapes(
        {
            "scores": (scores.shape, [8, 128]),
            "values": (values.shape, [8, 16]),
            "indices": (indices.shape, [8, 16]),
        }
    )
    for r in range(8):
        ids = _ci(0, [1, 128], torch.uint32, device=scores.device)  # UINT32[1, 128]
        runs = _sort32(scores[r : r + 1, 0:128], ids)  # FP32[1, 256]
        merged = _mrgsort_format1(runs, 64)  # FP32[1, 256]
        pairs = _tile_slice(merged, [1, 32], [0, 0])  # FP32[1, 32]
        v = pairs[..., 0::2].clone()  # FP32[1, 16]
        i = pairs[..., 1::2].clone().view(torch.int32)  # INT32[1, 16]
        values = _assemble(values, v, [r, 0])  # FP32[8, 16]
        indices = _assemble(indices, i, [r, 0])  # INT32[8, 16]
    return values, indices


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
