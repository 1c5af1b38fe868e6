"""RmsNorm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(x, w, out):
    """Opaque function."""
    _check_tensor("x", x, [64, 256], torch.float32)
    _check_tensor("w", w, [1, 256], torch.float32)
    _check_tensor("out", out, [64, 256], torch.bfloat16)
    for r in range(0, 64, 16):
        t = x[r : r + 16, 0:256]
        _check_tensor("t", t, [16, 256], torch.float32)
        ms = torch.sum((t * t), dim=-1, keepdim=True) * 0.00390625
        _check_tensor("ms", ms, [16, 1], torch.float32)
        inv = torch.rsqrt((ms + 1e-06))
        _check_tensor("inv", inv, [16, 1], torch.float32)
        n = (t * inv) * w
        _check_tensor("n", n, [16, 256], torch.float32)
        out = _assemble(out, n.to(torch.bfloat16), [r, 0])
        _check_tensor("out", out, [64, 256], torch.bfloat16)
    return out
