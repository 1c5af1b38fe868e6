"""DynamicRows. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _tensor_slice


def main(x, out):
    """Opaque function. In: x. Out: out."""
    _compare_shapes({"x": (x.shape, ["N_ROWS", 64]), "out": (out.shape, ["N_ROWS", 64])})
    rows = x.shape[0]
    for r in range(0, rows, 32):
        valid = min(32, rows - r)
        t = _tensor_slice(x, [32, 64], [r, 0], [valid, 64])  # FP32[32, 64] valid [valid, 64]
        out = _assemble(out, t * 2.0 + 1.0, [r, 0], [valid, 64])  # FP32[N_ROWS, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
