"""LayerNorm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(x__ssa_v0, w__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [32, 640], torch.float32)
    _check_tensor("w__ssa_v0", w__ssa_v0, [1, 640], torch.float32)
    _check_tensor("b__ssa_v0", b__ssa_v0, [1, 640], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 640], torch.float32)
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 32, 16):
        out__rv_v4 = ln(x__ssa_v0, r__idx_v0, out__iter_v1, w__ssa_v0, b__ssa_v0)
        _check_tensor("out__rv_v4", out__rv_v4, [32, 640], torch.float32)
        out__iter_v1 = out__rv_v4
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def ln(x__ssa_v0, r__idx_v0, out__iter_v1, w__ssa_v0, b__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    _check_dtype("w__ssa_v0", w__ssa_v0, torch.float32)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float32)
    head__tile = _tile_slice(x__ssa_v0, [16, 128], [r__idx_v0, 0])
    _check_tensor("head__tile", head__tile, [16, 128], torch.float32)
    tmp_tile = torch.zeros([16, 128], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile", tmp_tile, [16, 128], torch.float32)
    s1__tile = torch.sum(head__tile, dim=-1, keepdim=True)
    _check_tensor("s1__tile", s1__tile, [16, 1], torch.float32)
    t__tile = head__tile * head__tile
    _check_tensor("t__tile", t__tile, [16, 128], torch.float32)
    tmp_tile_1 = torch.zeros([16, 128], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile_1", tmp_tile_1, [16, 128], torch.float32)
    s2__tile = torch.sum(t__tile, dim=-1, keepdim=True)
    _check_tensor("s2__tile", s2__tile, [16, 1], torch.float32)
    s1__iter_v1, s2__iter_v1 = s1__tile, s2__tile
    for c__idx_v0 in range(128, 640, 128):
        t__tile_1 = _tile_slice(x__ssa_v0, [16, 128], [r__idx_v0, c__idx_v0])
        _check_tensor("t__tile_1", t__tile_1, [16, 128], torch.float32)
        tmp_tile_2 = torch.zeros([16, 128], dtype=torch.float32, device=x__ssa_v0.device)
        _check_tensor("tmp_tile_2", tmp_tile_2, [16, 128], torch.float32)
        t__tile_2 = torch.sum(t__tile_1, dim=-1, keepdim=True)
        _check_tensor("t__tile_2", t__tile_2, [16, 1], torch.float32)
        s1__rm_a0_tmp_v0 = s1__iter_v1.reshape([1, 16])
        _check_tensor("s1__rm_a0_tmp_v0", s1__rm_a0_tmp_v0, [1, 16], torch.float32)
        s1__rm_a1_tmp_v1 = t__tile_2.reshape([1, 16])
        _check_tensor("s1__rm_a1_tmp_v1", s1__rm_a1_tmp_v1, [1, 16], torch.float32)
        s1__row_major_tmp_v2 = s1__rm_a0_tmp_v0 + s1__rm_a1_tmp_v1
        _check_tensor("s1__row_major_tmp_v2", s1__row_major_tmp_v2, [1, 16], torch.float32)
        s1__tile_1 = s1__row_major_tmp_v2.reshape([16, 1])
        _check_tensor("s1__tile_1", s1__tile_1, [16, 1], torch.float32)
        t__tile_3 = t__tile_1 * t__tile_1
        _check_tensor("t__tile_3", t__tile_3, [16, 128], torch.float32)
        tmp_tile_3 = torch.zeros([16, 128], dtype=torch.float32, device=x__ssa_v0.device)
        _check_tensor("tmp_tile_3", tmp_tile_3, [16, 128], torch.float32)
        t__tile_4 = torch.sum(t__tile_3, dim=-1, keepdim=True)
        _check_tensor("t__tile_4", t__tile_4, [16, 1], torch.float32)
        s2__rm_a0_tmp_v3 = s2__iter_v1.reshape([1, 16])
        _check_tensor("s2__rm_a0_tmp_v3", s2__rm_a0_tmp_v3, [1, 16], torch.float32)
        s2__rm_a1_tmp_v4 = t__tile_4.reshape([1, 16])
        _check_tensor("s2__rm_a1_tmp_v4", s2__rm_a1_tmp_v4, [1, 16], torch.float32)
        s2__row_major_tmp_v5 = s2__rm_a0_tmp_v3 + s2__rm_a1_tmp_v4
        _check_tensor("s2__row_major_tmp_v5", s2__row_major_tmp_v5, [1, 16], torch.float32)
        s2__tile_1 = s2__row_major_tmp_v5.reshape([16, 1])
        _check_tensor("s2__tile_1", s2__tile_1, [16, 1], torch.float32)
        s1__iter_v1, s2__iter_v1 = s1__tile_1, s2__tile_1
    s1__rv_v2, s2__rv_v2 = s1__iter_v1, s2__iter_v1
    mean__rm_a0_tmp_v6 = s1__rv_v2.reshape([1, 16])
    _check_tensor("mean__rm_a0_tmp_v6", mean__rm_a0_tmp_v6, [1, 16], torch.float32)
    mean__row_major_tmp_v7 = mean__rm_a0_tmp_v6 * 0.0015625
    _check_tensor("mean__row_major_tmp_v7", mean__row_major_tmp_v7, [1, 16], torch.float32)
    mean__tile = mean__row_major_tmp_v7.reshape([16, 1])
    _check_tensor("mean__tile", mean__tile, [16, 1], torch.float32)
    t__rm_a0_tmp_v8 = s2__rv_v2.reshape([1, 16])
    _check_tensor("t__rm_a0_tmp_v8", t__rm_a0_tmp_v8, [1, 16], torch.float32)
    t__row_major_tmp_v9 = t__rm_a0_tmp_v8 * 0.0015625
    _check_tensor("t__row_major_tmp_v9", t__row_major_tmp_v9, [1, 16], torch.float32)
    t__tile_5 = t__row_major_tmp_v9.reshape([16, 1])
    _check_tensor("t__tile_5", t__tile_5, [16, 1], torch.float32)
    t__rm_a0_tmp_v10 = mean__tile.reshape([1, 16])
    _check_tensor("t__rm_a0_tmp_v10", t__rm_a0_tmp_v10, [1, 16], torch.float32)
    t__rm_a1_tmp_v11 = mean__tile.reshape([1, 16])
    _check_tensor("t__rm_a1_tmp_v11", t__rm_a1_tmp_v11, [1, 16], torch.float32)
    t__row_major_tmp_v12 = t__rm_a0_tmp_v10 * t__rm_a1_tmp_v11
    _check_tensor("t__row_major_tmp_v12", t__row_major_tmp_v12, [1, 16], torch.float32)
    t__tile_6 = t__row_major_tmp_v12.reshape([16, 1])
    _check_tensor("t__tile_6", t__tile_6, [16, 1], torch.float32)
    var__rm_a0_tmp_v13 = t__tile_5.reshape([1, 16])
    _check_tensor("var__rm_a0_tmp_v13", var__rm_a0_tmp_v13, [1, 16], torch.float32)
    var__rm_a1_tmp_v14 = t__tile_6.reshape([1, 16])
    _check_tensor("var__rm_a1_tmp_v14", var__rm_a1_tmp_v14, [1, 16], torch.float32)
    var__row_major_tmp_v15 = var__rm_a0_tmp_v13 - var__rm_a1_tmp_v14
    _check_tensor("var__row_major_tmp_v15", var__row_major_tmp_v15, [1, 16], torch.float32)
    var__tile = var__row_major_tmp_v15.reshape([16, 1])
    _check_tensor("var__tile", var__tile, [16, 1], torch.float32)
    t__rm_a0_tmp_v16 = var__tile.reshape([1, 16])
    _check_tensor("t__rm_a0_tmp_v16", t__rm_a0_tmp_v16, [1, 16], torch.float32)
    t__row_major_tmp_v17 = t__rm_a0_tmp_v16 + 1e-05
    _check_tensor("t__row_major_tmp_v17", t__row_major_tmp_v17, [1, 16], torch.float32)
    t__tile_7 = t__row_major_tmp_v17.reshape([16, 1])
    _check_tensor("t__tile_7", t__tile_7, [16, 1], torch.float32)
    inv__rm_a0_tmp_v18 = t__tile_7.reshape([1, 16])
    _check_tensor("inv__rm_a0_tmp_v18", inv__rm_a0_tmp_v18, [1, 16], torch.float32)
    inv__row_major_tmp_v19 = torch.rsqrt(inv__rm_a0_tmp_v18)
    _check_tensor("inv__row_major_tmp_v19", inv__row_major_tmp_v19, [1, 16], torch.float32)
    inv__tile = inv__row_major_tmp_v19.reshape([16, 1])
    _check_tensor("inv__tile", inv__tile, [16, 1], torch.float32)
    out__iter_v3 = out__iter_v1
    for c__idx_v0_1 in range(0, 640, 128):
        t__tile_8 = _tile_slice(x__ssa_v0, [16, 128], [r__idx_v0, c__idx_v0_1])
        _check_tensor("t__tile_8", t__tile_8, [16, 128], torch.float32)
        t__tile_9 = t__tile_8 - mean__tile
        _check_tensor("t__tile_9", t__tile_9, [16, 128], torch.float32)
        n__tile = t__tile_9 * inv__tile
        _check_tensor("n__tile", n__tile, [16, 128], torch.float32)
        t__tile_10 = w__ssa_v0[0:1, c__idx_v0_1 : c__idx_v0_1 + 128]
        _check_tensor("t__tile_10", t__tile_10, [1, 128], torch.float32)
        t__tile_11 = n__tile * t__tile_10
        _check_tensor("t__tile_11", t__tile_11, [16, 128], torch.float32)
        t__tile_12 = b__ssa_v0[0:1, c__idx_v0_1 : c__idx_v0_1 + 128]
        _check_tensor("t__tile_12", t__tile_12, [1, 128], torch.float32)
        y__tile = t__tile_11 + t__tile_12
        _check_tensor("y__tile", y__tile, [16, 128], torch.float32)
        out__tile = _tile_store(y__tile, [r__idx_v0, c__idx_v0_1], out__iter_v3)
        _check_tensor("out__tile", out__tile, [32, 640], torch.float32)
        out__iter_v3 = out__tile
    out__rv_v4 = out__iter_v3
    return out__iter_v1
