"""QueryKey

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(q__ssa_v0, k__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("q__ssa_v0", q__ssa_v0, [32, 64], torch.bfloat16)
    _check_tensor("k__ssa_v0", k__ssa_v0, [128, 64], torch.bfloat16)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 128], torch.float32)
    out__iter_v1 = out__ssa_v0
    for s__idx_v0 in range(0, 128, 64):
        out__ssa_v3 = main_incore_0(k__ssa_v0, s__idx_v0, q__ssa_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [32, 128], torch.float32)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(k__ssa_v0, s__idx_v0, q__ssa_v0, out__iter_v1):
    """AIC function."""
    _check_dtype("k__ssa_v0", k__ssa_v0, torch.bfloat16)
    _check_dtype("q__ssa_v0", q__ssa_v0, torch.bfloat16)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    kt__tile = _tile_slice(k__ssa_v0, [64, 64], [s__idx_v0, 0])
    _check_tensor("kt__tile", kt__tile, [64, 64], torch.bfloat16)
    q__ssa_v0_mat = q__ssa_v0[0:32, 0:64]
    _check_tensor("q__ssa_v0_mat", q__ssa_v0_mat, [32, 64], torch.bfloat16)
    kt__tile_t = kt__tile.mT
    _check_tensor("kt__tile_t", kt__tile_t, [64, 64], torch.bfloat16)
    q__ssa_v0_mat_Left = q__ssa_v0_mat
    _check_tensor("q__ssa_v0_mat_Left", q__ssa_v0_mat_Left, [32, 64], torch.bfloat16)
    kt__tile_t_Right = kt__tile_t
    _check_tensor("kt__tile_t_Right", kt__tile_t_Right, [64, 64], torch.bfloat16)
    t__tile = torch.matmul(q__ssa_v0_mat_Left.float(), kt__tile_t_Right.float())
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    out__tile = _tile_store(t__tile, [0, s__idx_v0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [32, 128], torch.float32)
    return out__iter_v1
