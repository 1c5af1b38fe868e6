"""SoftmaxRows. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {"x__ssa_v0": (x__ssa_v0.shape, [128, 96]), "out__ssa_v0": (out__ssa_v0.shape, [128, 96])}
    )
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 128, 32):
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, out__iter_v1)  # FP32[128, 96]
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, out__iter_v1):
    """InCore kernel. In: x__ssa_v0, r__idx_v0. Out: out__iter_v1."""
    t__tile = x__ssa_v0[r__idx_v0 : r__idx_v0 + 32, 0:96]  # FP32[32, 96]
    t__tile_1 = torch.amax(t__tile, dim=-1, keepdim=True)  # FP32[32, 1]
    t__tile_2 = t__tile - t__tile_1  # FP32[32, 96]
    e__tile = torch.exp(t__tile_2)  # FP32[32, 96]
    t__tile_3 = torch.sum(e__tile, dim=-1, keepdim=True)  # FP32[32, 1]
    p__tile = e__tile / t__tile_3  # FP32[32, 96]
    out__tile = _tile_store(p__tile, [r__idx_v0, 0], out__iter_v1)  # FP32[128, 96]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
