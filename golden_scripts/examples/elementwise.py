"""_jit_gated_unit

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def gated_unit(gate, up, residual, out):
    """Orchestration function."""
    _check_tensor("gate", gate, [256, 512], torch.bfloat16)
    _check_tensor("up", up, [256, 512], torch.bfloat16)
    _check_tensor("residual", residual, [256, 512], torch.float32)
    _check_tensor("out", out, [256, 512], torch.float32)
    for r in range(0, 256, 64):
        g = gate[r : r + 64, 0:512].to(torch.float32)
        _check_tensor("g", g, [64, 512], torch.float32)
        u = up[r : r + 64, 0:512].to(torch.float32)
        _check_tensor("u", u, [64, 512], torch.float32)
        sigmoid = torch.reciprocal((torch.exp((-g)) + 1.0))
        _check_tensor("sigmoid", sigmoid, [64, 512], torch.float32)
        y = (g * sigmoid) * u
        _check_tensor("y", y, [64, 512], torch.float32)
        out = _assemble(out, (y + residual[r : r + 64, 0:512]), [r, 0])
        _check_tensor("out", out, [256, 512], torch.float32)
    return out
