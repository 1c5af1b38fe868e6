"""MatmulInitCond. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _acc_init, _compare_shapes, _tile_store


def main(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function. In: a__ssa_v0, b__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "a__ssa_v0": (a__ssa_v0.shape, [32, 192]),
            "b__ssa_v0": (b__ssa_v0.shape, [192, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 64]),
        }
    )
    out__ssa_v1 = main_incore_0(a__ssa_v0, b__ssa_v0, out__ssa_v0)  # FP32[32, 64]
    return out__ssa_v1


def main_incore_0(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """AIC kernel (cube core). In: a__ssa_v0, b__ssa_v0. Out: out__ssa_v0."""
    acc__tile = torch.zeros([32, 64], dtype=torch.float32, device=a__ssa_v0.device)  # FP32[32, 64]
    acc__iter_v1 = acc__tile
    for k__idx_v0 in range(0, 192, 64):
        ak__tile = a__ssa_v0[0:32, k__idx_v0 : k__idx_v0 + 64]  # FP16[32, 64]
        bk__tile = b__ssa_v0[k__idx_v0 : k__idx_v0 + 64, 0:64]  # FP16[64, 64]
        acc__tile_1 = _acc_init(
            acc__iter_v1, torch.matmul(ak__tile.float(), bk__tile.float()), k__idx_v0 == 0
        )
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    out__tile = _tile_store(acc__rv_v2, [0, 0], out__ssa_v0)  # FP32[32, 64]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
