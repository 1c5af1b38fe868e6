"""RmsNorm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, w__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, w__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [64, 256]),
            "w__ssa_v0": (w__ssa_v0.shape, [1, 256]),
            "out__ssa_v0": (out__ssa_v0.shape, [64, 256]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 64, 16):
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, w__ssa_v0, out__iter_v1)  # BF16[64, 256]
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, w__ssa_v0, out__iter_v1):
    """AIV kernel (vector core). In: x__ssa_v0, r__idx_v0, w__ssa_v0. Out: out__iter_v1."""
    w__tile = w__ssa_v0[0:1, 0:256]  # FP32[1, 256]
    t__tile = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, 0:256]  # FP32[16, 256]
    t__tile_1 = t__tile * t__tile  # FP32[16, 256]
    t__tile_2 = torch.sum(t__tile_1, dim=-1, keepdim=True)  # FP32[16, 1]
    ms__rm_a0_tmp_v0 = t__tile_2.reshape([1, 16])  # FP32[1, 16]
    ms__row_major_tmp_v1 = ms__rm_a0_tmp_v0 * 0.00390625  # FP32[1, 16]
    ms__tile = ms__row_major_tmp_v1.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v2 = ms__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v3 = t__rm_a0_tmp_v2 + 1e-06  # FP32[1, 16]
    t__tile_3 = t__row_major_tmp_v3.reshape([16, 1])  # FP32[16, 1]
    inv__rm_a0_tmp_v4 = t__tile_3.reshape([1, 16])  # FP32[1, 16]
    inv__row_major_tmp_v5 = torch.rsqrt(inv__rm_a0_tmp_v4)  # FP32[1, 16]
    inv__tile = inv__row_major_tmp_v5.reshape([16, 1])  # FP32[16, 1]
    t__tile_4 = t__tile * inv__tile  # FP32[16, 256]
    n__tile = t__tile_4 * w__tile  # FP32[16, 256]
    t__tile_5 = n__tile.to(torch.bfloat16)  # BF16[16, 256]
    out__tile = _tile_store(t__tile_5, [r__idx_v0, 0], out__iter_v1)  # BF16[64, 256]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
