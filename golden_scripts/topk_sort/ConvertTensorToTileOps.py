"""TopkSort. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _ci,
    _compare_shapes,
    _mrgsort_format1,
    _sort32,
    _tile_slice,
    _tile_store,
)


def main(scores__ssa_v0, vals__ssa_v0, idx__ssa_v0):
    """Orchestration function. In: scores__ssa_v0. Out: vals__ssa_v0, idx__ssa_v0."""
    _compare_shapes(
        {
            "scores__ssa_v0": (scores__ssa_v0.shape, [8, 128]),
            "vals__ssa_v0": (vals__ssa_v0.shape, [8, 16]),
            "idx__ssa_v0": (idx__ssa_v0.shape, [8, 16]),
        }
    )
    idx__iter_v1, vals__iter_v1 = idx__ssa_v0, vals__ssa_v0
    for r__idx_v0 in range(8):
        vals__ssa_v3, idx__ssa_v3 = topk(scores__ssa_v0, r__idx_v0, vals__iter_v1, idx__iter_v1)
        idx__iter_v1, vals__iter_v1 = idx__ssa_v3, vals__ssa_v3
    idx__rv_v2, vals__rv_v2 = idx__iter_v1, vals__iter_v1
    return vals__rv_v2, idx__rv_v2


def topk(scores__ssa_v0, r__idx_v0, vals__iter_v1, idx__iter_v1):
    """InCore kernel. In: scores__ssa_v0, r__idx_v0. Out: vals__iter_v1, idx__iter_v1."""
    row__tile = scores__ssa_v0[r__idx_v0 : r__idx_v0 + 1, 0:128]  # FP32[1, 128]
    ids__tile = _ci(0, [1, 128], torch.uint32, device=scores__ssa_v0.device)  # UINT32[1, 128]
    runs__tile = _sort32(row__tile, ids__tile)  # FP32[1, 256]
    merged__tile = _mrgsort_format1(runs__tile, 64)  # FP32[1, 256]
    pairs__tile = _tile_slice(merged__tile, [1, 32], [0, 0])  # FP32[1, 32]
    v__tile = pairs__tile[..., 0::2].clone()  # FP32[1, 16]
    i__tile = pairs__tile[..., 1::2].clone().view(torch.int32)  # INT32[1, 16]
    vals__tile = _tile_store(v__tile, [r__idx_v0, 0], vals__iter_v1)  # FP32[8, 16]
    idx__tile = _tile_store(i__tile, [r__idx_v0, 0], idx__iter_v1)  # INT32[8, 16]
    return vals__iter_v1, idx__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
