"""SubmitChain

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _TASK_DONE, _check_dtype, _check_tensor, _tile_load, _tile_store


def main(a__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [32, 64], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 64], torch.float32)
    mid__ssa_v0 = torch.zeros([32, 64], dtype=torch.float32, device=a__ssa_v0.device)
    _check_tensor("mid__ssa_v0", mid__ssa_v0, [32, 64], torch.float32)
    _submit_tmp__ssa_v0 = (double(a__ssa_v0, mid__ssa_v0), _TASK_DONE)
    mid__ssa_v1 = _submit_tmp__ssa_v0[0]
    _check_tensor("mid__ssa_v1", mid__ssa_v1, [32, 64], torch.float32)
    t0__ssa_v0 = _submit_tmp__ssa_v0[1]
    _submit_tmp__ssa_v0_1 = (minus_one(mid__ssa_v1, out__ssa_v0), _TASK_DONE)
    out__ssa_v1 = _submit_tmp__ssa_v0_1[0]
    _check_tensor("out__ssa_v1", out__ssa_v1, [32, 64], torch.float32)
    t1__ssa_v0 = _submit_tmp__ssa_v0_1[1]
    return out__ssa_v1


def double(a__ssa_v0, o__ssa_v0):
    """AIV function."""
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    _check_dtype("o__ssa_v0", o__ssa_v0, torch.float32)
    t__ssa_v0 = a__ssa_v0[0:32, 0:64]
    _check_tensor("t__ssa_v0", t__ssa_v0, [32, 64], torch.float32)
    t__tmp_v0 = t__ssa_v0 + t__ssa_v0
    _check_tensor("t__tmp_v0", t__tmp_v0, [32, 64], torch.float32)
    o__ssa_v1 = _tile_store(t__tmp_v0, [0, 0], o__ssa_v0)
    _check_tensor("o__ssa_v1", o__ssa_v1, [32, 64], torch.float32)
    return o__ssa_v1


def minus_one(a__ssa_v0, o__ssa_v0):
    """AIV function."""
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    _check_dtype("o__ssa_v0", o__ssa_v0, torch.float32)
    t__ssa_v0 = _tile_load(a__ssa_v0, [0, 0], [32, 64])
    _check_tensor("t__ssa_v0", t__ssa_v0, [32, 64], torch.float32)
    t__tmp_v0 = t__ssa_v0 - 1.0
    _check_tensor("t__tmp_v0", t__tmp_v0, [32, 64], torch.float32)
    o__ssa_v1 = _tile_store(t__tmp_v0, [0, 0], o__ssa_v0)
    _check_tensor("o__ssa_v1", o__ssa_v1, [32, 64], torch.float32)
    return o__ssa_v1
