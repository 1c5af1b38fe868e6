"""MatmulKLoop. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function. In: a__ssa_v0, b__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "a__ssa_v0": (a__ssa_v0.shape, [64, 256]),
            "b__ssa_v0": (b__ssa_v0.shape, [256, 128]),
            "out__ssa_v0": (out__ssa_v0.shape, [64, 128]),
        }
    )
    out__iter_v1 = out__ssa_v0
    for m__idx_v0 in range(0, 64, 32):
        out__iter_v3 = out__iter_v1
        for n__idx_v0 in range(0, 128, 64):
            out__ssa_v5 = main_incore_0(a__ssa_v0, m__idx_v0, b__ssa_v0, n__idx_v0, out__iter_v3)
            out__iter_v3 = out__ssa_v5
        out__rv_v4 = out__iter_v3
        out__iter_v1 = out__rv_v4
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(a__ssa_v0, m__idx_v0, b__ssa_v0, n__idx_v0, out__iter_v3):
    """InCore kernel. In: a__ssa_v0, m__idx_v0, b__ssa_v0, n__idx_v0. Out: out__iter_v3."""
    a0__tile = a__ssa_v0[m__idx_v0 : m__idx_v0 + 32, 0:64]  # BF16[32, 64]
    b0__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64]  # BF16[64, 64]
    acc__tile = torch.matmul(a0__tile.float(), b0__tile.float())  # FP32[32, 64]
    acc__iter_v1 = acc__tile
    for k__idx_v0 in range(64, 256, 64):
        ak__tile = a__ssa_v0[m__idx_v0 : m__idx_v0 + 32, k__idx_v0 : k__idx_v0 + 64]  # BF16[32, 64]
        bk__tile = b__ssa_v0[k__idx_v0 : k__idx_v0 + 64, n__idx_v0 : n__idx_v0 + 64]  # BF16[64, 64]
        acc__tile_1 = acc__iter_v1.add_(torch.matmul(ak__tile.float(), bk__tile.float()))
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    out__tile = _tile_store(acc__rv_v2, [m__idx_v0, n__idx_v0], out__iter_v3)  # FP32[64, 128]
    return out__iter_v3


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
