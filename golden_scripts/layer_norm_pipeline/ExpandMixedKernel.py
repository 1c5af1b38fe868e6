"""LayerNorm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, w__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, w__ssa_v0, b__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [32, 640]),
            "w__ssa_v0": (w__ssa_v0.shape, [1, 640]),
            "b__ssa_v0": (b__ssa_v0.shape, [1, 640]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 640]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 32, 16):
        out__rv_v4 = ln(x__ssa_v0, r__idx_v0, out__iter_v1, w__ssa_v0, b__ssa_v0)  # FP32[32, 640]
        out__iter_v1 = out__rv_v4
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def ln(x__ssa_v0, r__idx_v0, out__iter_v1, w__ssa_v0, b__ssa_v0):
    """AIV kernel (vector core).

    In: x__ssa_v0, r__idx_v0, w__ssa_v0, b__ssa_v0.
    Out: out__iter_v1.
    """
    head__tile = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, 0:128]  # FP32[16, 128]
    s1__tile = torch.sum(head__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    t__tile = head__tile * head__tile  # FP32[16, 128]
    s2__tile = torch.sum(t__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    s1__iter_v1, s2__iter_v1 = s1__tile, s2__tile
    for c__idx_v0 in range(128, 640, 128):
        t__tile_1 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, c__idx_v0 : c__idx_v0 + 128]
        t__tile_2 = torch.sum(t__tile_1, dim=-1, keepdim=True)  # FP32[16, 1]
        s1__rm_a0_tmp_v0 = s1__iter_v1.reshape([1, 16])  # FP32[1, 16]
        s1__rm_a1_tmp_v1 = t__tile_2.reshape([1, 16])  # FP32[1, 16]
        s1__row_major_tmp_v2 = s1__rm_a0_tmp_v0 + s1__rm_a1_tmp_v1  # FP32[1, 16]
        s1__tile_1 = s1__row_major_tmp_v2.reshape([16, 1])  # FP32[16, 1]
        t__tile_3 = t__tile_1 * t__tile_1  # FP32[16, 128]
        t__tile_4 = torch.sum(t__tile_3, dim=-1, keepdim=True)  # FP32[16, 1]
        s2__rm_a0_tmp_v3 = s2__iter_v1.reshape([1, 16])  # FP32[1, 16]
        s2__rm_a1_tmp_v4 = t__tile_4.reshape([1, 16])  # FP32[1, 16]
        s2__row_major_tmp_v5 = s2__rm_a0_tmp_v3 + s2__rm_a1_tmp_v4  # FP32[1, 16]
        s2__tile_1 = s2__row_major_tmp_v5.reshape([16, 1])  # FP32[16, 1]
        s1__iter_v1, s2__iter_v1 = s1__tile_1, s2__tile_1
    s1__rv_v2, s2__rv_v2 = s1__iter_v1, s2__iter_v1
    mean__rm_a0_tmp_v6 = s1__rv_v2.reshape([1, 16])  # FP32[1, 16]
    mean__row_major_tmp_v7 = mean__rm_a0_tmp_v6 * 0.0015625  # FP32[1, 16]
    mean__tile = mean__row_major_tmp_v7.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v8 = s2__rv_v2.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v9 = t__rm_a0_tmp_v8 * 0.0015625  # FP32[1, 16]
    t__tile_5 = t__row_major_tmp_v9.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v10 = mean__tile.reshape([1, 16])  # FP32[1, 16]
    t__rm_a1_tmp_v11 = mean__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v12 = t__rm_a0_tmp_v10 * t__rm_a1_tmp_v11  # FP32[1, 16]
    t__tile_6 = t__row_major_tmp_v12.reshape([16, 1])  # FP32[16, 1]
    var__rm_a0_tmp_v13 = t__tile_5.reshape([1, 16])  # FP32[1, 16]
    var__rm_a1_tmp_v14 = t__tile_6.reshape([1, 16])  # FP32[1, 16]
    var__row_major_tmp_v15 = var__rm_a0_tmp_v13 - var__rm_a1_tmp_v14  # FP32[1, 16]
    var__tile = var__row_major_tmp_v15.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v16 = var__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v17 = t__rm_a0_tmp_v16 + 1e-05  # FP32[1, 16]
    t__tile_7 = t__row_major_tmp_v17.reshape([16, 1])  # FP32[16, 1]
    inv__rm_a0_tmp_v18 = t__tile_7.reshape([1, 16])  # FP32[1, 16]
    inv__row_major_tmp_v19 = torch.rsqrt(inv__rm_a0_tmp_v18)  # FP32[1, 16]
    inv__tile = inv__row_major_tmp_v19.reshape([16, 1])  # FP32[16, 1]
    out__iter_v3 = out__iter_v1
    for c__idx_v0_1 in range(0, 640, 128):
        t__tile_8 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, c__idx_v0_1 : c__idx_v0_1 + 128]
        t__tile_9 = t__tile_8 - mean__tile  # FP32[16, 128]
        n__tile = t__tile_9 * inv__tile  # FP32[16, 128]
        t__tile_10 = w__ssa_v0[0:1, c__idx_v0_1 : c__idx_v0_1 + 128]  # FP32[1, 128]
        t__tile_11 = n__tile * t__tile_10  # FP32[16, 128]
        t__tile_12 = b__ssa_v0[0:1, c__idx_v0_1 : c__idx_v0_1 + 128]  # FP32[1, 128]
        y__tile = t__tile_11 + t__tile_12  # FP32[16, 128]
        out__tile = _tile_store(y__tile, [r__idx_v0, c__idx_v0_1], out__iter_v3)  # FP32[32, 640]
        out__iter_v3 = out__tile
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
