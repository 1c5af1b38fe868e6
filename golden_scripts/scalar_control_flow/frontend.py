"""ScalarControlFlow. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _apart, _assemble, _compare_shapes


def main(x, flags, out):
    """Opaque function. In: x, flags. Out: out."""
    _compare_shapes(
        {"x": (x.shape, [32, 64]), "flags": (flags.shape, [4]), "out": (out.shape, [32, 64])}
    )
    t = x[0:32, 0:64].clone()  # FP32[32, 64]
    for i in range(4):
        flag = flags[i].item()
        if flag > 0:
            t = t + 1.0  # FP32[32, 64]
        else:
            t = t * 0.5  # FP32[32, 64]
        for j in range(i + 1):
            if j % 2 == 0:
                t = t - 0.125  # FP32[32, 64]
    out = _assemble(out, _apart(t, out, [0, 0]), [0, 0])  # FP32[32, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
