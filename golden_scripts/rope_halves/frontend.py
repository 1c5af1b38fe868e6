"""RopeHalves. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, cos, sin, out):
    """Opaque function. In: x, cos, sin. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [32, 128]),
            "cos": (cos.shape, [1, 64]),
            "sin": (sin.shape, [1, 64]),
            "out": (out.shape, [32, 128]),
        }
    )
    lo = x[0:32, 0:64]  # FP32[32, 64]
    hi = x[0:32, 64:128]  # FP32[32, 64]
    rot_lo = lo * cos - hi * sin  # FP32[32, 64]
    rot_hi = hi * cos + lo * sin  # FP32[32, 64]
    out = _assemble(out, rot_lo, [0, 0])  # FP32[32, 128]
    out = _assemble(out, rot_hi, [0, 64])  # FP32[32, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
