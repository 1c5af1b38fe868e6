"""ScalarControlFlow. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, flags__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, flags__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [32, 64]),
            "flags__ssa_v0": (flags__ssa_v0.shape, [4]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 64]),
        }
    )
    out__ssa_v1 = main_incore_0(x__ssa_v0, flags__ssa_v0, out__ssa_v0)  # FP32[32, 64]
    return out__ssa_v1


def main_incore_0(x__ssa_v0, flags__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, flags__ssa_v0. Out: out__ssa_v0."""
    t__tile = x__ssa_v0[0:32, 0:64].clone()  # FP32[32, 64]
    t__iter_v1 = t__tile
    for i__idx_v0 in range(4):
        flag__tile = flags__ssa_v0[i__idx_v0].item()
        if 0 < flag__tile:
            t__tile_1 = t__iter_v1 + 1.0  # FP32[32, 64]
            t__phi_v5 = t__tile_1
        else:
            t__tile_2 = t__iter_v1 * 0.5  # FP32[32, 64]
            t__phi_v5 = t__tile_2
        t__iter_v6 = t__phi_v5
        for j__idx_v0 in range(i__idx_v0 + 1):
            if j__idx_v0 % 2 == 0:
                t__tile_3 = t__iter_v6 - 0.125  # FP32[32, 64]
                t__phi_v9 = t__tile_3
            else:
                t__phi_v9 = t__iter_v6
            t__iter_v6 = t__phi_v9
        t__rv_v7 = t__iter_v6
        t__iter_v1 = t__rv_v7
    t__rv_v2 = t__iter_v1
    out__tile = _tile_store(t__rv_v2, [0, 0], out__ssa_v0)  # FP32[32, 64]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
