"""SubmitChain

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _TASK_DONE, _check_dtype, _check_tensor, _tile_load, _tile_store


def main(a, out):
    """Orchestration function."""
    _check_tensor("a", a, [32, 64], torch.float32)
    _check_tensor("out", out, [32, 64], torch.float32)
    mid = torch.zeros([32, 64], dtype=torch.float32, device=a.device)
    _check_tensor("mid", mid, [32, 64], torch.float32)
    _submit_tmp = (double(a, mid), _TASK_DONE)
    mid = _submit_tmp[0]
    _check_tensor("mid", mid, [32, 64], torch.float32)
    t0 = _submit_tmp[1]
    _submit_tmp_1 = (minus_one(mid, out), _TASK_DONE)
    out = _submit_tmp_1[0]
    _check_tensor("out", out, [32, 64], torch.float32)
    t1 = _submit_tmp_1[1]
    return out


def double(a, o):
    """InCore function."""
    _check_dtype("a", a, torch.float32)
    _check_dtype("o", o, torch.float32)
    t = a[0:32, 0:64]
    _check_tensor("t", t, [32, 64], torch.float32)
    o = _tile_store((t + t), [0, 0], o)
    _check_tensor("o", o, [32, 64], torch.float32)
    return o


def minus_one(a, o):
    """InCore function."""
    _check_dtype("a", a, torch.float32)
    _check_dtype("o", o, torch.float32)
    t = _tile_load(a, [0, 0], [32, 64])
    _check_tensor("t", t, [32, 64], torch.float32)
    o = _tile_store((t - 1.0), [0, 0], o)
    _check_tensor("o", o, [32, 64], torch.float32)
    return o
