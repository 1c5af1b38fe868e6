"""_jit_linear_gelu. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def linear_gelu(x, weight, bias, out):
    """Orchestration function. In: x, weight, bias. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [64, 128]),
            "weight": (weight.shape, [512, 128]),
            "bias": (bias.shape, [1, 512]),
            "out": (out.shape, [64, 512]),
        }
    )
    for n in range(0, 512, 128):
        product = torch.matmul(x.float(), weight[n : n + 128, 0:128].float().mT)  # FP32[64, 128]
        out = _assemble(out, gelu(product + bias[0:1, n : n + 128].clone()), [0, n])
    return out


def gelu(x):
    """Inline function. In: x."""
    # The sigmoid form, x * sigmoid(1.702 x).
    return x * torch.reciprocal(torch.exp(x * -1.702) + 1.0)


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
