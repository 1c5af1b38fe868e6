"""GatherCols

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor, _gather_flat, _tile_store


def main(x__ssa_v0, index__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [16, 64], torch.float32)
    _check_tensor("index__ssa_v0", index__ssa_v0, [16, 32], torch.int32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [16, 32], torch.float32)
    out__ssa_v1 = gather_cols(x__ssa_v0, index__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [16, 32], torch.float32)
    return out__ssa_v1


def gather_cols(x__ssa_v0, index__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("index__ssa_v0", index__ssa_v0, torch.int32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    gather_acc_init = torch.zeros([16, 32], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("gather_acc_init", gather_acc_init, [16, 32], torch.float32)
    gather_ia = gather_acc_init
    for gather_lv in range(16):
        gather_inp_row = x__ssa_v0[gather_lv : gather_lv + 1, 0:64]
        _check_tensor("gather_inp_row", gather_inp_row, [1, 64], torch.float32)
        gather_idx_row = index__ssa_v0[gather_lv : gather_lv + 1, 0:32]
        _check_tensor("gather_idx_row", gather_idx_row, [1, 32], torch.int32)
        gather_row_tmp = torch.zeros([1, 32], dtype=torch.int32, device=x__ssa_v0.device)
        _check_tensor("gather_row_tmp", gather_row_tmp, [1, 32], torch.int32)
        gather_row = _gather_flat(gather_inp_row, gather_idx_row)
        _check_tensor("gather_row", gather_row, [1, 32], torch.float32)
        gather_asmbl = _assemble(gather_ia, gather_row, [gather_lv, 0])
        _check_tensor("gather_asmbl", gather_asmbl, [16, 32], torch.float32)
        gather_ia = gather_asmbl
    gather_rv = gather_ia
    g__tile = gather_rv
    _check_tensor("g__tile", g__tile, [16, 32], torch.float32)
    t__tile = g__tile * g__tile
    _check_tensor("t__tile", t__tile, [16, 32], torch.float32)
    out__tile = _tile_store(t__tile, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [16, 32], torch.float32)
    return out__ssa_v0
