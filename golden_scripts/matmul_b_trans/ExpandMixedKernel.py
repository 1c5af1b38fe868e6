"""QueryKey. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(q__ssa_v0, k__ssa_v0, out__ssa_v0):
    """Orchestration function. In: q__ssa_v0, k__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "q__ssa_v0": (q__ssa_v0.shape, [32, 64]),
            "k__ssa_v0": (k__ssa_v0.shape, [128, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 128]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for s__idx_v0 in range(0, 128, 64):
        out__ssa_v3 = main_incore_0(k__ssa_v0, s__idx_v0, q__ssa_v0, out__iter_v1)  # FP32[32, 128]
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(k__ssa_v0, s__idx_v0, q__ssa_v0, out__iter_v1):
    """AIC kernel (cube core). In: k__ssa_v0, s__idx_v0, q__ssa_v0. Out: out__iter_v1."""
    kt__tile = k__ssa_v0[s__idx_v0 : s__idx_v0 + 64, 0:64]  # BF16[64, 64]
    q__ssa_v0_mat = q__ssa_v0[0:32, 0:64]  # BF16[32, 64]
    kt__tile_t = kt__tile.mT  # BF16[64, 64]
    t__tile = torch.matmul(q__ssa_v0_mat.float(), kt__tile_t.float())  # FP32[32, 64]
    out__tile = _tile_store(t__tile, [0, s__idx_v0], out__iter_v1)  # FP32[32, 128]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
