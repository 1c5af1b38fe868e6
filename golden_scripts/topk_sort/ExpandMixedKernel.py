"""TopkSort

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _check_dtype,
    _check_tensor,
    _ci,
    _mrgsort_format1,
    _sort32,
    _tile_slice,
    _tile_store,
)


def main(scores__ssa_v0, vals__ssa_v0, idx__ssa_v0):
    """Orchestration function."""
    _check_tensor("scores__ssa_v0", scores__ssa_v0, [8, 128], torch.float32)
    _check_tensor("vals__ssa_v0", vals__ssa_v0, [8, 16], torch.float32)
    _check_tensor("idx__ssa_v0", idx__ssa_v0, [8, 16], torch.int32)
    idx__iter_v1, vals__iter_v1 = idx__ssa_v0, vals__ssa_v0
    for r__idx_v0 in range(8):
        ret__tmp_v0 = topk(scores__ssa_v0, r__idx_v0, vals__iter_v1, idx__iter_v1)
        vals__ssa_v3 = ret__tmp_v0[0]
        _check_tensor("vals__ssa_v3", vals__ssa_v3, [8, 16], torch.float32)
        idx__ssa_v3 = ret__tmp_v0[1]
        _check_tensor("idx__ssa_v3", idx__ssa_v3, [8, 16], torch.int32)
        idx__iter_v1, vals__iter_v1 = idx__ssa_v3, vals__ssa_v3
    idx__rv_v2, vals__rv_v2 = idx__iter_v1, vals__iter_v1
    return vals__rv_v2, idx__rv_v2


def topk(scores__ssa_v0, r__idx_v0, vals__iter_v1, idx__iter_v1):
    """AIV function."""
    _check_dtype("scores__ssa_v0", scores__ssa_v0, torch.float32)
    _check_dtype("vals__iter_v1", vals__iter_v1, torch.float32)
    _check_dtype("idx__iter_v1", idx__iter_v1, torch.int32)
    row__tile = _tile_slice(scores__ssa_v0, [1, 128], [r__idx_v0, 0])
    _check_tensor("row__tile", row__tile, [1, 128], torch.float32)
    ids__tile = _ci(0, [1, 128], torch.uint32, device=scores__ssa_v0.device)
    _check_tensor("ids__tile", ids__tile, [1, 128], torch.uint32)
    runs__tile = _sort32(row__tile, ids__tile)
    _check_tensor("runs__tile", runs__tile, [1, 256], torch.float32)
    merged__tile = _mrgsort_format1(runs__tile, 64)
    _check_tensor("merged__tile", merged__tile, [1, 256], torch.float32)
    pairs__tile = _tile_slice(merged__tile, [1, 32], [0, 0])
    _check_tensor("pairs__tile", pairs__tile, [1, 32], torch.float32)
    v__tile = pairs__tile[..., 0::2].clone()
    _check_tensor("v__tile", v__tile, [1, 16], torch.float32)
    i__tile = pairs__tile[..., 1::2].clone().view(torch.int32)
    _check_tensor("i__tile", i__tile, [1, 16], torch.int32)
    vals__tile = _tile_store(v__tile, [r__idx_v0, 0], vals__iter_v1)
    _check_tensor("vals__tile", vals__tile, [8, 16], torch.float32)
    idx__tile = _tile_store(i__tile, [r__idx_v0, 0], idx__iter_v1)
    _check_tensor("idx__tile", idx__tile, [8, 16], torch.int32)
    return vals__iter_v1, idx__iter_v1
