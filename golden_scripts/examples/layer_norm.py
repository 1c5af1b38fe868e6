"""_jit_layer_norm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor


def layer_norm(x, weight, bias, out):
    """Orchestration function."""
    _check_tensor("x", x, [128, 512], torch.float32)
    _check_tensor("weight", weight, [1, 512], torch.float32)
    _check_tensor("bias", bias, [1, 512], torch.float32)
    _check_tensor("out", out, [128, 512], torch.float32)
    for r in range(0, 128, 16):
        t = x[r : r + 16, 0:512].clone()
        _check_tensor("t", t, [16, 512], torch.float32)
        centred = t - row_mean(t)
        _check_tensor("centred", centred, [16, 512], torch.float32)
        variance = row_mean(centred * centred)
        _check_tensor("variance", variance, [16, 1], torch.float32)
        normed = centred * torch.rsqrt((variance + 1e-05))
        _check_tensor("normed", normed, [16, 512], torch.float32)
        out = _assemble(out, ((normed * weight) + bias), [r, 0])
        _check_tensor("out", out, [128, 512], torch.float32)
    return out


def row_mean(x):
    """Inline function."""
    _check_dtype("x", x, torch.float32)
    return torch.sum(x, dim=-1, keepdim=True) * 0.001953125
