"""_jit_layer_norm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def layer_norm(x, weight, bias, out):
    """Orchestration function. In: x, weight, bias. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [128, 512]),
            "weight": (weight.shape, [1, 512]),
            "bias": (bias.shape, [1, 512]),
            "out": (out.shape, [128, 512]),
        }
    )
    for r in range(0, 128, 16):
        t = x[r : r + 16, 0:512].clone()  # FP32[16, 512]
        centred = t - row_mean(t)  # FP32[16, 512]
        variance = row_mean(centred * centred)  # FP32[16, 1]
        normed = centred * torch.rsqrt(variance + 1e-05)  # FP32[16, 512]
        out = _assemble(out, normed * weight + bias, [r, 0])  # FP32[128, 512]
    return out


def row_mean(x):
    """Inline function. In: x."""
    return torch.sum(x, dim=-1, keepdim=True) * 0.001953125


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
