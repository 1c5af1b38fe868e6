"""SplitKAtomic. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble_add, _compare_shapes


def main(a, b, out):
    """Opaque function. In: a, b. InOut: out."""
    _compare_shapes(
        {"a": (a.shape, [32, 256]), "b": (b.shape, [256, 64]), "out": (out.shape, [32, 64])}
    )
    for k in range(0, 256, 64):
        part = torch.matmul(a[0:32, k : k + 64].float(), b[k : k + 64, 0:64].float())
        out = _assemble_add(out, part, [0, 0])  # FP32[32, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
