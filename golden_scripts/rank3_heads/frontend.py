"""Rank3Heads

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(x, scale, out):
    """Opaque function."""
    _check_tensor("x", x, [4, 16, 64], torch.float32)
    _check_tensor("scale", scale, [4, 64], torch.float32)
    _check_tensor("out", out, [4, 16, 64], torch.float32)
    for h in range(4):
        t = x[h : h + 1, 0:16, 0:64].squeeze(0)
        _check_tensor("t", t, [16, 64], torch.float32)
        s = scale[h : h + 1, 0:64]
        _check_tensor("s", s, [1, 64], torch.float32)
        y = t * s
        _check_tensor("y", y, [16, 64], torch.float32)
        out = _assemble(out, y.reshape([1, 16, 64]), [h, 0, 0])
        _check_tensor("out", out, [4, 16, 64], torch.float32)
    return out
