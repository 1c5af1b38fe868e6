"""InlineHelpers. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, y, prod, sq):
    """Opaque function. In: x, y. Out: prod, sq."""
    _compare_shapes(
        {
            "x": (x.shape, [32, 64]),
            "y": (y.shape, [32, 64]),
            "prod": (prod.shape, [32, 64]),
            "sq": (sq.shape, [32, 64]),
        }
    )
    s, d = sum_and_diff(x, y)  # FP32[32, 64], FP32[32, 64]
    prod = _assemble(prod, s * d, [0, 0])  # FP32[32, 64]
    s2, d2 = sum_and_diff(prod, x)  # FP32[32, 64], FP32[32, 64]
    sq = _assemble(sq, s2 * s2 + d2, [0, 0])  # FP32[32, 64]
    return prod, sq


def sum_and_diff(a, b):
    """Inline function. In: a, b."""
    s = a + b  # FP32[32, 64]
    d = a - b  # FP32[32, 64]
    return s, d


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
