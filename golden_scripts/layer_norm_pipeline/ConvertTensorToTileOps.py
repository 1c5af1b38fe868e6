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
    """InCore kernel. In: x__ssa_v0, r__idx_v0, w__ssa_v0, b__ssa_v0. Out: out__iter_v1."""
    head__tile = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, 0:128]  # FP32[16, 128]
    s1__tile = torch.sum(head__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    t__tile = head__tile * head__tile  # FP32[16, 128]
    s2__tile = torch.sum(t__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    s1__iter_v1, s2__iter_v1 = s1__tile, s2__tile
    for c__idx_v0 in range(128, 640, 128):
        t__tile_1 = x__ssa_v0[r__idx_v0 : r__idx_v0 + 16, c__idx_v0 : c__idx_v0 + 128]
        t__tile_2 = torch.sum(t__tile_1, dim=-1, keepdim=True)  # FP32[16, 1]
        s1__tile_1 = s1__iter_v1 + t__tile_2  # FP32[16, 1]
        t__tile_3 = t__tile_1 * t__tile_1  # FP32[16, 128]
        t__tile_4 = torch.sum(t__tile_3, dim=-1, keepdim=True)  # FP32[16, 1]
        s2__tile_1 = s2__iter_v1 + t__tile_4  # FP32[16, 1]
        s1__iter_v1, s2__iter_v1 = s1__tile_1, s2__tile_1
    s1__rv_v2, s2__rv_v2 = s1__iter_v1, s2__iter_v1
    mean__tile = s1__rv_v2 * 0.0015625  # FP32[16, 1]
    t__tile_5 = s2__rv_v2 * 0.0015625  # FP32[16, 1]
    t__tile_6 = mean__tile * mean__tile  # FP32[16, 1]
    var__tile = t__tile_5 - t__tile_6  # FP32[16, 1]
    t__tile_7 = var__tile + 1e-05  # FP32[16, 1]
    inv__tile = torch.rsqrt(t__tile_7)  # FP32[16, 1]
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
