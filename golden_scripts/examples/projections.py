"""_jit_projections

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor


def projections(x, wq, wk, wv, q, k, v):
    """Orchestration function."""
    _check_tensor("x", x, [16, 1024], torch.bfloat16)
    _check_tensor("wq", wq, [1024, 1024], torch.bfloat16)
    _check_tensor("wk", wk, [1024, 1024], torch.bfloat16)
    _check_tensor("wv", wv, [1024, 1024], torch.bfloat16)
    _check_tensor("q", q, [16, 1024], torch.float32)
    _check_tensor("k", k, [16, 1024], torch.float32)
    _check_tensor("v", v, [16, 1024], torch.float32)
    q = project(x, wq, q)
    _check_tensor("q", q, [16, 1024], torch.float32)
    k = project(x, wk, k)
    _check_tensor("k", k, [16, 1024], torch.float32)
    v = project(x, wv, v)
    _check_tensor("v", v, [16, 1024], torch.float32)
    return q, k, v


def project(x, weight, out):
    """Inline function."""
    _check_dtype("x", x, torch.bfloat16)
    _check_dtype("weight", weight, torch.bfloat16)
    _check_dtype("out", out, torch.float32)
    for n in range(0, 1024, 256):
        acc = torch.matmul(x[0:16, 0:128].float(), weight[0:128, n : n + 256].float())
        _check_tensor("acc", acc, [16, 256], torch.float32)
        for k in range(128, 1024, 128):
            acc = acc + torch.matmul(
                x[0:16, k : k + 128].float(), weight[k : k + 128, n : n + 256].float()
            )
            _check_tensor("acc", acc, [16, 256], torch.float32)
        out = _assemble(out, acc, [0, n])
        _check_tensor("out", out, [16, 1024], torch.float32)
    return out
