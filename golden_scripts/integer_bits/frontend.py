"""IntegerBits

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(x, y, out):
    """Opaque function."""
    _check_tensor("x", x, [16, 64], torch.int32)
    _check_tensor("y", y, [16, 64], torch.int32)
    _check_tensor("out", out, [16, 64], torch.int32)
    lo = x & 255
    _check_tensor("lo", lo, [16, 64], torch.int32)
    hi = x >> 3
    _check_tensor("hi", hi, [16, 64], torch.int32)
    mix = (lo | y) ^ hi
    _check_tensor("mix", mix, [16, 64], torch.int32)
    out = _assemble(out, (mix + (lo * 3)), [0, 0])
    _check_tensor("out", out, [16, 64], torch.int32)
    return out
