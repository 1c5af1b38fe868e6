"""Rank3Heads. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, scale__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, scale__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [4, 16, 64]),
            "scale__ssa_v0": (scale__ssa_v0.shape, [4, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [4, 16, 64]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for h__idx_v0 in range(4):
        out__ssa_v3 = head(x__ssa_v0, h__idx_v0, scale__ssa_v0, out__iter_v1)  # FP32[4, 16, 64]
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def head(x__ssa_v0, h__idx_v0, scale__ssa_v0, out__iter_v1):
    """AIV kernel (vector core). In: x__ssa_v0, h__idx_v0, scale__ssa_v0. Out: out__iter_v1."""
    slice_load = x__ssa_v0[h__idx_v0 : h__idx_v0 + 1, 0:16, 0:64].reshape([16, 64])  # FP32[16, 64]
    t__tile = slice_load  # FP32[16, 64]
    s__tile = scale__ssa_v0[h__idx_v0 : h__idx_v0 + 1, 0:64]  # FP32[1, 64]
    y__tile = t__tile * s__tile  # FP32[16, 64]
    t__tile_1 = y__tile.reshape([1, 16, 64])  # FP32[1, 16, 64]
    flat_tile = t__tile_1.reshape([16, 64])  # FP32[16, 64]
    out__tile = _tile_store(flat_tile, [h__idx_v0, 0, 0], out__iter_v1)  # FP32[4, 16, 64]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
