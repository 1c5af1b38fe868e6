"""IntegerBits. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, y, out):
    """Opaque function. In: x, y. Out: out."""
    _compare_shapes(
        {"x": (x.shape, [16, 64]), "y": (y.shape, [16, 64]), "out": (out.shape, [16, 64])}
    )
    lo = x & 255  # INT32[16, 64]
    hi = x >> 3  # INT32[16, 64]
    mix = (lo | y) ^ hi  # INT32[16, 64]
    out = _assemble(out, mix + lo * 3, [0, 0])  # INT32[16, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
