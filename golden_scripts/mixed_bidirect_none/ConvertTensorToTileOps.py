"""Mixed. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(a__ssa_v0, b__ssa_v0, c__ssa_v0):
    """Orchestration function. In: a__ssa_v0, b__ssa_v0. InOut: c__ssa_v0."""
    _compare_shapes(
        {
            "a__ssa_v0": (a__ssa_v0.shape, [32, 64]),
            "b__ssa_v0": (b__ssa_v0.shape, [64, 256]),
            "c__ssa_v0": (c__ssa_v0.shape, [32, 256]),
        }
    )
    c__rv_v2 = main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0)  # FP32[32, 256]
    return c__rv_v2


def main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """InCore kernel. In: b__ssa_v0, a__ssa_v0. InOut: c__ssa_v0."""
    a__tile = a__ssa_v0[0:32, 0:64].clone()  # FP32[32, 64]
    c__iter_v1 = c__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        prev__tile = c__iter_v1[0:32, n__idx_v0 : n__idx_v0 + 64]  # FP32[32, 64]
        bt__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64]  # FP32[64, 64]
        scaled__tile = a__tile * 0.25  # FP32[32, 64]
        t__tile = torch.matmul(scaled__tile, bt__tile).float()  # FP32[32, 64]
        nxt__tile = prev__tile + t__tile  # FP32[32, 64]
        c__tile = _tile_store(nxt__tile, [0, n__idx_v0], c__iter_v1)  # FP32[32, 256]
        c__iter_v1 = c__tile
    return c__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
