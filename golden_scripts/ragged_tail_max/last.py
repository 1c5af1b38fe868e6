"""RaggedTailMax

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _fillpad, _tile_load, _tile_store


def main(x__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [32, 160], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 1], torch.float32)
    out__ssa_v1 = kernel(x__ssa_v0, 150, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [32, 1], torch.float32)
    return out__ssa_v1


def kernel(x__ssa_v0, n_valid__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    head__ssa_v0 = x__ssa_v0[0:32, 0:64]
    _check_tensor("head__ssa_v0", head__ssa_v0, [32, 64], torch.float32)
    tmp0__ssa_v0 = torch.zeros([32, 64], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp0__ssa_v0", tmp0__ssa_v0, [32, 64], torch.float32)
    best__ssa_v0 = torch.amax(head__ssa_v0, dim=-1, keepdim=True)
    _check_tensor("best__ssa_v0", best__ssa_v0, [32, 1], torch.float32)
    best__iter_v1 = best__ssa_v0
    for c__idx_v0 in range(64, 160, 64):
        width__ssa_v0 = min(n_valid__ssa_v0 - c__idx_v0, 64)
        t__ssa_v0 = _tile_load(x__ssa_v0, [0, c__idx_v0], [32, 64], [32, width__ssa_v0])
        _check_tensor("t__ssa_v0", t__ssa_v0, [32, 64], torch.float32)
        p__ssa_v0 = _fillpad(t__ssa_v0, "min", [32, width__ssa_v0])
        _check_tensor("p__ssa_v0", p__ssa_v0, [32, 64], torch.float32)
        tmp__ssa_v0 = torch.zeros([32, 64], dtype=torch.float32, device=x__ssa_v0.device)
        _check_tensor("tmp__ssa_v0", tmp__ssa_v0, [32, 64], torch.float32)
        t__tmp_v0 = torch.amax(p__ssa_v0, dim=-1, keepdim=True)
        _check_tensor("t__tmp_v0", t__tmp_v0, [32, 1], torch.float32)
        best__rm_a0_tmp_v0 = best__iter_v1.reshape([1, 32])
        _check_tensor("best__rm_a0_tmp_v0", best__rm_a0_tmp_v0, [1, 32], torch.float32)
        best__rm_a1_tmp_v1 = t__tmp_v0.reshape([1, 32])
        _check_tensor("best__rm_a1_tmp_v1", best__rm_a1_tmp_v1, [1, 32], torch.float32)
        best__row_major_tmp_v2 = torch.maximum(best__rm_a0_tmp_v0, best__rm_a1_tmp_v1)
        _check_tensor("best__row_major_tmp_v2", best__row_major_tmp_v2, [1, 32], torch.float32)
        best__ssa_v3 = best__row_major_tmp_v2.reshape([32, 1])
        _check_tensor("best__ssa_v3", best__ssa_v3, [32, 1], torch.float32)
        best__ssa_v3_mv = best__ssa_v3
        _check_tensor("best__ssa_v3_mv", best__ssa_v3_mv, [32, 1], torch.float32)
        best__iter_v1 = best__ssa_v3_mv
    best__rv_v2 = best__iter_v1
    out__ssa_v1 = _tile_store(best__rv_v2, [0, 0], out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [32, 1], torch.float32)
    return out__ssa_v0
