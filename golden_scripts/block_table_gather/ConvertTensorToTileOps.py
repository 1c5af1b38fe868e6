"""BlockTableGather. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_slice, _tile_store


def main(pool__ssa_v0, table__ssa_v0, out__ssa_v0):
    """Orchestration function. In: pool__ssa_v0, table__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "pool__ssa_v0": (pool__ssa_v0.shape, [192, 64]),
            "table__ssa_v0": (table__ssa_v0.shape, [4]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 64]),
        }
    )
    out__ssa_v1 = main_incore_0(table__ssa_v0, pool__ssa_v0, out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v1


def main_incore_0(table__ssa_v0, pool__ssa_v0, out__ssa_v0):
    """InCore kernel. In: table__ssa_v0, pool__ssa_v0. Out: out__ssa_v0."""
    acc__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=table__ssa_v0.device)
    acc__iter_v1 = acc__tile
    for i__idx_v0 in range(4):
        t__tile = table__ssa_v0[i__idx_v0].item()
        blk__ssa_v0 = t__tile
        t__tile_1 = _tile_slice(pool__ssa_v0, [16, 64], [blk__ssa_v0 * 16, 0])  # FP32[16, 64]
        acc__tile_1 = acc__iter_v1 + t__tile_1  # FP32[16, 64]
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    out__tile = _tile_store(acc__rv_v2, [0, 0], out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
