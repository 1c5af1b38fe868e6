"""SoftmaxRows. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, out):
    """Opaque function. In: x. Out: out."""
    _compare_shapes({"x": (x.shape, [128, 96]), "out": (out.shape, [128, 96])})
    for r in range(0, 128, 32):
        t = x[r : r + 32, 0:96]  # FP32[32, 96]
        e = torch.exp(t - torch.amax(t, dim=-1, keepdim=True))  # FP32[32, 96]
        p = e / torch.sum(e, dim=-1, keepdim=True)  # FP32[32, 96]
        out = _assemble(out, p, [r, 0])  # FP32[128, 96]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
