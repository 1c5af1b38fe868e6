"""Rank3Heads. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, scale, out):
    """Opaque function. In: x, scale. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [4, 16, 64]),
            "scale": (scale.shape, [4, 64]),
            "out": (out.shape, [4, 16, 64]),
        }
    )
    for h in range(4):
        t = x[h : h + 1, 0:16, 0:64].squeeze(0)  # FP32[16, 64]
        s = scale[h : h + 1, 0:64]  # FP32[1, 64]
        y = t * s  # FP32[16, 64]
        out = _assemble(out, y.reshape([1, 16, 64]), [h, 0, 0])  # FP32[4, 16, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
