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
    for c__idx_v0 in range(128, 640, 256):
        t__tile_1 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, c__idx_v0 : c__idx_v0 + 128]
        t__tile_2 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, c__idx_v0 + 128 : c__idx_v0 + 128 + 128]
        t__tile_3 = torch.sum(t__tile_1, dim=-1, keepdim=True)  # FP32[16, 1]
        s1__rm_a0_tmp_v0 = s1__iter_v1.reshape([1, 16])  # FP32[1, 16]
        s1__rm_a1_tmp_v1 = t__tile_3.reshape([1, 16])  # FP32[1, 16]
        s1__row_major_tmp_v2 = s1__rm_a0_tmp_v0 + s1__rm_a1_tmp_v1  # FP32[1, 16]
        s1__tile_1 = s1__row_major_tmp_v2.reshape([16, 1])  # FP32[16, 1]
        t__tile_4 = t__tile_1 * t__tile_1  # FP32[16, 128]
        t__tile_5 = torch.sum(t__tile_4, dim=-1, keepdim=True)  # FP32[16, 1]
        s2__rm_a0_tmp_v3 = s2__iter_v1.reshape([1, 16])  # FP32[1, 16]
        s2__rm_a1_tmp_v4 = t__tile_5.reshape([1, 16])  # FP32[1, 16]
        s2__row_major_tmp_v5 = s2__rm_a0_tmp_v3 + s2__rm_a1_tmp_v4  # FP32[1, 16]
        s2__tile_1 = s2__row_major_tmp_v5.reshape([16, 1])  # FP32[16, 1]
        t__tile_6 = torch.sum(t__tile_2, dim=-1, keepdim=True)  # FP32[16, 1]
        s1__rm_a0_tmp_v0_1 = s1__tile_1.reshape([1, 16])  # FP32[1, 16]
        s1__rm_a1_tmp_v1_1 = t__tile_6.reshape([1, 16])  # FP32[1, 16]
        s1__row_major_tmp_v2_1 = s1__rm_a0_tmp_v0_1 + s1__rm_a1_tmp_v1_1  # FP32[1, 16]
        s1__tile_2 = s1__row_major_tmp_v2_1.reshape([16, 1])  # FP32[16, 1]
        t__tile_7 = t__tile_2 * t__tile_2  # FP32[16, 128]
        t__tile_8 = torch.sum(t__tile_7, dim=-1, keepdim=True)  # FP32[16, 1]
        s2__rm_a0_tmp_v3_1 = s2__tile_1.reshape([1, 16])  # FP32[1, 16]
        s2__rm_a1_tmp_v4_1 = t__tile_8.reshape([1, 16])  # FP32[1, 16]
        s2__row_major_tmp_v5_1 = s2__rm_a0_tmp_v3_1 + s2__rm_a1_tmp_v4_1  # FP32[1, 16]
        s2__tile_2 = s2__row_major_tmp_v5_1.reshape([16, 1])  # FP32[16, 1]
        s1__iter_v1, s2__iter_v1 = s1__tile_2, s2__tile_2
    s1__rv_v2, s2__rv_v2 = s1__iter_v1, s2__iter_v1
    mean__rm_a0_tmp_v6 = s1__rv_v2.reshape([1, 16])  # FP32[1, 16]
    mean__row_major_tmp_v7 = mean__rm_a0_tmp_v6 * 0.0015625  # FP32[1, 16]
    mean__tile = mean__row_major_tmp_v7.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v8 = s2__rv_v2.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v9 = t__rm_a0_tmp_v8 * 0.0015625  # FP32[1, 16]
    t__tile_9 = t__row_major_tmp_v9.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v10 = mean__tile.reshape([1, 16])  # FP32[1, 16]
    t__rm_a1_tmp_v11 = mean__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v12 = t__rm_a0_tmp_v10 * t__rm_a1_tmp_v11  # FP32[1, 16]
    t__tile_10 = t__row_major_tmp_v12.reshape([16, 1])  # FP32[16, 1]
    var__rm_a0_tmp_v13 = t__tile_9.reshape([1, 16])  # FP32[1, 16]
    var__rm_a1_tmp_v14 = t__tile_10.reshape([1, 16])  # FP32[1, 16]
    var__row_major_tmp_v15 = var__rm_a0_tmp_v13 - var__rm_a1_tmp_v14  # FP32[1, 16]
    var__tile = var__row_major_tmp_v15.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v16 = var__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v17 = t__rm_a0_tmp_v16 + 1e-05  # FP32[1, 16]
    t__tile_11 = t__row_major_tmp_v17.reshape([16, 1])  # FP32[16, 1]
    inv__rm_a0_tmp_v18 = t__tile_11.reshape([1, 16])  # FP32[1, 16]
    inv__row_major_tmp_v19 = torch.rsqrt(inv__rm_a0_tmp_v18)  # FP32[1, 16]
    inv__tile = inv__row_major_tmp_v19.reshape([16, 1])  # FP32[16, 1]
    out__iter_v3 = out__iter_v1
    for c__idx_v0_1 in range(0, 512, 256):
        t__tile_12 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, c__idx_v0_1 : c__idx_v0_1 + 128]
        t__tile_13 = w__ssa_v0[0:1, c__idx_v0_1 : c__idx_v0_1 + 128]  # FP32[1, 128]
        t__tile_14 = b__ssa_v0[0:1, c__idx_v0_1 : c__idx_v0_1 + 128]  # FP32[1, 128]
        t__tile_15 = x__ssa_v0[
            r__idx_v0 : r__idx_v0 + 16, c__idx_v0_1 + 128 : c__idx_v0_1 + 128 + 128
        ].clone()
        t__tile_16 = w__ssa_v0[0:1, c__idx_v0_1 + 128 : c__idx_v0_1 + 128 + 128].clone()
        t__tile_17 = b__ssa_v0[0:1, c__idx_v0_1 + 128 : c__idx_v0_1 + 128 + 128].clone()
        t__tile_18 = t__tile_12 - mean__tile  # FP32[16, 128]
        n__tile = t__tile_18 * inv__tile  # FP32[16, 128]
        t__tile_19 = n__tile * t__tile_13  # FP32[16, 128]
        y__tile = t__tile_19 + t__tile_14  # FP32[16, 128]
        out__tile = _tile_store(y__tile, [r__idx_v0, c__idx_v0_1], out__iter_v3)  # FP32[32, 640]
        t__tile_20 = t__tile_15 - mean__tile  # FP32[16, 128]
        n__tile_1 = t__tile_20 * inv__tile  # FP32[16, 128]
        t__tile_21 = n__tile_1 * t__tile_16  # FP32[16, 128]
        y__tile_1 = t__tile_21 + t__tile_17  # FP32[16, 128]
        out__tile_1 = _tile_store(y__tile_1, [r__idx_v0, c__idx_v0_1 + 128], out__tile)
        out__iter_v3 = out__tile_1
    out__rv_v4_main = out__iter_v3
    t__tile_22 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, 512:640]  # FP32[16, 128]
    t__tile_23 = t__tile_22 - mean__tile  # FP32[16, 128]
    n__tile_2 = t__tile_23 * inv__tile  # FP32[16, 128]
    t__tile_24 = w__ssa_v0[0:1, 512:640]  # FP32[1, 128]
    t__tile_25 = n__tile_2 * t__tile_24  # FP32[16, 128]
    t__tile_26 = b__ssa_v0[0:1, 512:640]  # FP32[1, 128]
    y__tile_2 = t__tile_25 + t__tile_26  # FP32[16, 128]
    out__tile_2 = _tile_store(y__tile_2, [r__idx_v0, 512], out__rv_v4_main)  # FP32[32, 640]
    out__rv_v4 = out__tile_2  # FP32[32, 640]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
