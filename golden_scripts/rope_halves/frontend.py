"""RopeHalves

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(x, cos, sin, out):
    """Opaque function."""
    _check_tensor("x", x, [32, 128], torch.float32)
    _check_tensor("cos", cos, [1, 64], torch.float32)
    _check_tensor("sin", sin, [1, 64], torch.float32)
    _check_tensor("out", out, [32, 128], torch.float32)
    lo = x[0:32, 0:64]
    _check_tensor("lo", lo, [32, 64], torch.float32)
    hi = x[0:32, 64:128]
    _check_tensor("hi", hi, [32, 64], torch.float32)
    rot_lo = (lo * cos) - (hi * sin)
    _check_tensor("rot_lo", rot_lo, [32, 64], torch.float32)
    rot_hi = (hi * cos) + (lo * sin)
    _check_tensor("rot_hi", rot_hi, [32, 64], torch.float32)
    out = _assemble(out, rot_lo, [0, 0])
    _check_tensor("out", out, [32, 128], torch.float32)
    out = _assemble(out, rot_hi, [0, 64])
    _check_tensor("out", out, [32, 128], torch.float32)
    return out
