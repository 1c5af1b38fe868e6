"""SplitKAtomic. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store_add


def main(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function. In: a__ssa_v0, b__ssa_v0. InOut: out__ssa_v0."""
    _compare_shapes(
        {
            "a__ssa_v0": (a__ssa_v0.shape, [32, 256]),
            "b__ssa_v0": (b__ssa_v0.shape, [256, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 64]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for k__idx_v0 in range(0, 256, 64):
        out__ssa_v3 = split_k(a__ssa_v0, k__idx_v0, b__ssa_v0, out__iter_v1)  # FP32[32, 64]
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def split_k(a__ssa_v0, k__idx_v0, b__ssa_v0, out__iter_v1):
    """InCore kernel. In: a__ssa_v0, k__idx_v0, b__ssa_v0. Out: out__iter_v1."""
    t__tile = a__ssa_v0[0:32, k__idx_v0 : k__idx_v0 + 64]  # BF16[32, 64]
    t__tile_1 = b__ssa_v0[k__idx_v0 : k__idx_v0 + 64, 0:64]  # BF16[64, 64]
    part__tile = torch.matmul(t__tile.float(), t__tile_1.float())  # FP32[32, 64]
    out__tile = _tile_store_add(part__tile, [0, 0], out__iter_v1)  # FP32[32, 64]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
