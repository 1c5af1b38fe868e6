"""CarriedSwap

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_store


def main(x, y, out):
    """Orchestration function."""
    _check_tensor("x", x, [16, 64], torch.float32)
    _check_tensor("y", y, [16, 64], torch.float32)
    _check_tensor("out", out, [16, 64], torch.float32)
    out = kernel(x, y, out)
    _check_tensor("out", out, [16, 64], torch.float32)
    return out


def kernel(x, y, out):
    """InCore function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("y", y, torch.float32)
    _check_dtype("out", out, torch.float32)
    a0 = x[0:16, 0:64].clone()
    _check_tensor("a0", a0, [16, 64], torch.float32)
    b0 = y[0:16, 0:64].clone()
    _check_tensor("b0", b0, [16, 64], torch.float32)
    a, b = a0, b0
    for i in range(5):
        total = a + b
        _check_tensor("total", total, [16, 64], torch.float32)
        a, b = b, total
    a1, b1 = a, b
    out = _tile_store((b1 - (a1 * 0.5)), [0, 0], out)
    _check_tensor("out", out, [16, 64], torch.float32)
    return out
