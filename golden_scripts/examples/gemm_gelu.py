"""_jit_linear_gelu

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor


def linear_gelu(x, weight, bias, out):
    """Orchestration function."""
    _check_tensor("x", x, [64, 128], torch.bfloat16)
    _check_tensor("weight", weight, [512, 128], torch.bfloat16)
    _check_tensor("bias", bias, [1, 512], torch.float32)
    _check_tensor("out", out, [64, 512], torch.float32)
    for n in range(0, 512, 128):
        product = torch.matmul(x.float(), weight[n : n + 128, 0:128].float().mT)
        _check_tensor("product", product, [64, 128], torch.float32)
        out = _assemble(out, gelu(product + bias[0:1, n : n + 128].clone()), [0, n])
        _check_tensor("out", out, [64, 512], torch.float32)
    return out


def gelu(x):
    """Inline function."""
    _check_dtype("x", x, torch.float32)
    # The sigmoid form, x * sigmoid(1.702 x).
    return x * torch.reciprocal((torch.exp((x * -1.702)) + 1.0))
