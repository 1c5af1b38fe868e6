"""CarriedSwap. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x, y, out):
    """Orchestration function. In: x, y. Out: out."""
    _compare_shapes(
        {"x": (x.shape, [16, 64]), "y": (y.shape, [16, 64]), "out": (out.shape, [16, 64])}
    )
    out = kernel(x, y, out)  # FP32[16, 64]
    return out


def kernel(x, y, out):
    """InCore kernel. In: x, y. Out: out."""
    a0 = x[0:16, 0:64].clone()  # FP32[16, 64]
    b0 = y[0:16, 0:64].clone()  # FP32[16, 64]
    a, b = a0, b0
    for i in range(5):
        total = a + b  # FP32[16, 64]
        a, b = b, total
    a1, b1 = a, b
    out = _tile_store(b1 - a1 * 0.5, [0, 0], out)  # FP32[16, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
