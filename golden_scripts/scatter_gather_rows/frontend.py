"""GatherCols. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, index, out):
    """Opaque function. In: x, index. Out: out."""
    _compare_shapes(
        {"x": (x.shape, [16, 64]), "index": (index.shape, [16, 32]), "out": (out.shape, [16, 32])}
    )
    g = torch.gather(x, -1, index.long())  # FP32[16, 32]
    out = _assemble(out, g * g, [0, 0])  # FP32[16, 32]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
