"""GatherCols. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _gather_flat, _tile_store


def main(x__ssa_v0, index__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, index__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [16, 64]),
            "index__ssa_v0": (index__ssa_v0.shape, [16, 32]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 32]),
        }
    )
    out__ssa_v1 = gather_cols(x__ssa_v0, index__ssa_v0, out__ssa_v0)  # FP32[16, 32]
    return out__ssa_v1


def gather_cols(x__ssa_v0, index__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, index__ssa_v0. Out: out__ssa_v0."""
    gather_acc_init = torch.zeros([16, 32], dtype=torch.float32, device=x__ssa_v0.device)
    gather_ia = gather_acc_init
    for gather_lv in range(16):
        gather_inp_row = x__ssa_v0[gather_lv : gather_lv + 1, 0:64]  # FP32[1, 64]
        gather_idx_row = index__ssa_v0[gather_lv : gather_lv + 1, 0:32]  # INT32[1, 32]
        gather_row = _gather_flat(gather_inp_row, gather_idx_row)  # FP32[1, 32]
        gather_asmbl = _assemble(gather_ia, gather_row, [gather_lv, 0])  # FP32[16, 32]
        gather_ia = gather_asmbl
    gather_rv = gather_ia
    g__tile = gather_rv  # FP32[16, 32]
    t__tile = g__tile * g__tile  # FP32[16, 32]
    out__tile = _tile_store(t__tile, [0, 0], out__ssa_v0)  # FP32[16, 32]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
