"""ElementwiseChain. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, y__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [96, 64]),
            "y__ssa_v0": (y__ssa_v0.shape, [96, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [96, 64]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 96, 32):
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, y__ssa_v0, out__iter_v1)  # FP32[96, 64]
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, y__ssa_v0, out__iter_v1):
    """AIV kernel (vector core). In: x__ssa_v0, r__idx_v0, y__ssa_v0. Out: out__iter_v1."""
    a__tile = x__ssa_v0[r__idx_v0 : r__idx_v0 + 32, 0:64]  # FP32[32, 64]
    b__tile = y__ssa_v0[r__idx_v0 : r__idx_v0 + 32, 0:64]  # FP32[32, 64]
    t__tile = a__tile + b__tile  # FP32[32, 64]
    c__tile = t__tile * 0.5  # FP32[32, 64]
    t__tile_1 = torch.abs(b__tile)  # FP32[32, 64]
    t__tile_2 = -t__tile_1  # FP32[32, 64]
    t__tile_3 = torch.exp(t__tile_2)  # FP32[32, 64]
    d__tile = c__tile - t__tile_3  # FP32[32, 64]
    t__tile_4 = torch.maximum(d__tile, a__tile)  # FP32[32, 64]
    out__tile = _tile_store(t__tile_4, [r__idx_v0, 0], out__iter_v1)  # FP32[96, 64]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
