"""CarriedSwap. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, y__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [16, 64]),
            "y__ssa_v0": (y__ssa_v0.shape, [16, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 64]),
        }
    )
    out__ssa_v1 = kernel(x__ssa_v0, y__ssa_v0, out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v1


def kernel(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, y__ssa_v0. Out: out__ssa_v0."""
    a0__ssa_v0 = x__ssa_v0[0:16, 0:64].clone()  # FP32[16, 64]
    b0__ssa_v0 = y__ssa_v0[0:16, 0:64].clone()  # FP32[16, 64]
    a, b = a0__ssa_v0, b0__ssa_v0
    for i__idx_v0 in range(5):
        total__ssa_v0 = a + b  # FP32[16, 64]
        a, b = b, total__ssa_v0
    a1, b1 = a, b
    t__tmp_v0 = a1 * 0.5  # FP32[16, 64]
    t__tmp_v1 = b1 - t__tmp_v0  # FP32[16, 64]
    out__ssa_v1 = _tile_store(t__tmp_v1, [0, 0], out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
