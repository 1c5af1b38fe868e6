"""Mixed. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(a, b, c):
    """Opaque function. In: a, b. InOut: c."""
    _compare_shapes(
        {"a": (a.shape, [32, 64]), "b": (b.shape, [64, 256]), "c": (c.shape, [32, 256])}
    )
    for n in range(0, 256, 64):
        prev = c[0:32, n : n + 64]  # FP32[32, 64]
        bt = b[0:64, n : n + 64]  # FP32[64, 64]
        nxt = prev + torch.clamp(torch.matmul(a, bt).float(), min=0.0)  # FP32[32, 64]
        c = _assemble(c, nxt, [0, n])  # FP32[32, 256]
    return c


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
