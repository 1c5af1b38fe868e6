"""InlineHelpers. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, y__ssa_v0, prod__ssa_v0, sq__ssa_v0):
    """Orchestration function. In: x__ssa_v0, y__ssa_v0. Out: prod__ssa_v0, sq__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [32, 64]),
            "y__ssa_v0": (y__ssa_v0.shape, [32, 64]),
            "prod__ssa_v0": (prod__ssa_v0.shape, [32, 64]),
            "sq__ssa_v0": (sq__ssa_v0.shape, [32, 64]),
        }
    )
    prod__ssa_v1 = main_incore_0(x__ssa_v0, y__ssa_v0, prod__ssa_v0)  # FP32[32, 64]
    sq__ssa_v1 = main_incore_1(prod__ssa_v1, x__ssa_v0, sq__ssa_v0)  # FP32[32, 64]
    return prod__ssa_v1, sq__ssa_v1


def main_incore_0(x__ssa_v0, y__ssa_v0, prod__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, y__ssa_v0. Out: prod__ssa_v0."""
    x__tile = x__ssa_v0[0:32, 0:64]  # FP32[32, 64]
    y__tile = y__ssa_v0[0:32, 0:64]  # FP32[32, 64]
    s_inline5__tile = x__tile + y__tile  # FP32[32, 64]
    d_inline4__tile = x__tile - y__tile  # FP32[32, 64]
    s__ssa_v0 = s_inline5__tile  # FP32[32, 64]
    d__ssa_v0 = d_inline4__tile  # FP32[32, 64]
    t__tile = s__ssa_v0 * d__ssa_v0  # FP32[32, 64]
    prod__tile = _tile_store(t__tile, [0, 0], prod__ssa_v0)  # FP32[32, 64]
    return prod__ssa_v0


def main_incore_1(prod__ssa_v1, x__ssa_v0, sq__ssa_v0):
    """AIV kernel (vector core). In: prod__ssa_v1, x__ssa_v0. Out: sq__ssa_v0."""
    prod__tile = prod__ssa_v1[0:32, 0:64]  # FP32[32, 64]
    x__tile = x__ssa_v0[0:32, 0:64]  # FP32[32, 64]
    s_inline7__tile = prod__tile + x__tile  # FP32[32, 64]
    d_inline6__tile = prod__tile - x__tile  # FP32[32, 64]
    s2__ssa_v0 = s_inline7__tile  # FP32[32, 64]
    d2__ssa_v0 = d_inline6__tile  # FP32[32, 64]
    t__tile = s2__ssa_v0 * s2__ssa_v0  # FP32[32, 64]
    t__tile_1 = t__tile + d2__ssa_v0  # FP32[32, 64]
    sq__tile = _tile_store(t__tile_1, [0, 0], sq__ssa_v0)  # FP32[32, 64]
    return sq__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
