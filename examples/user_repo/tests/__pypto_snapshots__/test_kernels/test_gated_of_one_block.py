"""_jit_gated. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _round_to_bf16


def gated(x, gate, scale, out):
    """Orchestration function. In: x, gate, scale. Out: out."""
    _compare_shapes(
        {"x": (x.shape, [32, 128]), "gate": (gate.shape, [32, 128]), "out": (out.shape, [32, 128])}
    )
    for r in range(0, 32, 32):
        g = gate[r : r + 32, 0:128].to(torch.float32) * 0.5  # FP32[32, 128]
        sigmoid = torch.reciprocal(torch.exp(-g) + 1.0)  # FP32[32, 128]
        y = x[r : r + 32, 0:128].to(torch.float32) * sigmoid  # FP32[32, 128]
        out = _assemble(out, _round_to_bf16(y), [r, 0])  # BF16[32, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
