"""DynamicRows. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_load, _tile_store


def main(x__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, ["N_ROWS", 64]),
            "out__ssa_v0": (out__ssa_v0.shape, ["N_ROWS", 64]),
        }
    )
    N_ROWS = x__ssa_v0.shape[0]
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, N_ROWS, 32):
        valid__ssa_v0 = min(N_ROWS - r__idx_v0, 32)
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, valid__ssa_v0, out__iter_v1)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, valid__ssa_v0, out__iter_v1):
    """AIV kernel (vector core). In: x__ssa_v0, r__idx_v0, valid__ssa_v0. Out: out__iter_v1."""
    t__tile = _tile_load(x__ssa_v0, [r__idx_v0, 0], [32, 64], [valid__ssa_v0, 64])
    t__tile_1 = t__tile * 2.0  # FP32[32, 64] valid [valid__ssa_v0, 64]
    t__tile_2 = t__tile_1 + 1.0  # FP32[32, 64] valid [valid__ssa_v0, 64]
    out__tile = _tile_store(t__tile_2, [r__idx_v0, 0], out__iter_v1, [valid__ssa_v0, 64])
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
