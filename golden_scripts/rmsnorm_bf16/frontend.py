"""RmsNorm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, w, out):
    """Opaque function. In: x, w. Out: out."""
    _compare_shapes(
        {"x": (x.shape, [64, 256]), "w": (w.shape, [1, 256]), "out": (out.shape, [64, 256])}
    )
    for r in range(0, 64, 16):
        t = x[r : r + 16, 0:256]  # FP32[16, 256]
        ms = torch.sum(t * t, dim=-1, keepdim=True) * 0.00390625  # FP32[16, 1]
        inv = torch.rsqrt(ms + 1e-06)  # FP32[16, 1]
        n = t * inv * w  # FP32[16, 256]
        out = _assemble(out, n.to(torch.bfloat16), [r, 0])  # BF16[64, 256]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
