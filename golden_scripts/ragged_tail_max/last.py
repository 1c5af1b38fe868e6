"""RaggedTailMax. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _fillpad, _tile_load, _tile_store


def main(x__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {"x__ssa_v0": (x__ssa_v0.shape, [32, 160]), "out__ssa_v0": (out__ssa_v0.shape, [32, 1])}
    )
    out__ssa_v1 = kernel(x__ssa_v0, 150, out__ssa_v0)  # FP32[32, 1]
    return out__ssa_v1


def kernel(x__ssa_v0, n_valid__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, n_valid__ssa_v0. Out: out__ssa_v0."""
    head__ssa_v0 = x__ssa_v0[0:32, 0:64]  # FP32[32, 64]
    best__ssa_v0 = torch.amax(head__ssa_v0, dim=-1, keepdim=True)  # FP32[32, 1]
    best__iter_v1 = best__ssa_v0
    for c__idx_v0 in range(64, 160, 64):
        width__ssa_v0 = min(n_valid__ssa_v0 - c__idx_v0, 64)
        t__ssa_v0 = _tile_load(x__ssa_v0, [0, c__idx_v0], [32, 64], [32, width__ssa_v0])
        p__ssa_v0 = _fillpad(t__ssa_v0, "min", [32, width__ssa_v0])  # FP32[32, 64]
        t__tmp_v0 = torch.amax(p__ssa_v0, dim=-1, keepdim=True)  # FP32[32, 1]
        best__rm_a0_tmp_v0 = best__iter_v1.reshape([1, 32])  # FP32[1, 32]
        best__rm_a1_tmp_v1 = t__tmp_v0.reshape([1, 32])  # FP32[1, 32]
        best__row_major_tmp_v2 = torch.maximum(best__rm_a0_tmp_v0, best__rm_a1_tmp_v1)
        best__ssa_v3 = best__row_major_tmp_v2.reshape([32, 1])  # FP32[32, 1]
        best__iter_v1 = best__ssa_v3
    best__rv_v2 = best__iter_v1
    out__ssa_v1 = _tile_store(best__rv_v2, [0, 0], out__ssa_v0)  # FP32[32, 1]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
