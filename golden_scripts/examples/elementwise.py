"""_jit_gated_unit. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def gated_unit(gate, up, residual, out):
    """Orchestration function. In: gate, up, residual. Out: out."""
    _compare_shapes(
        {
            "gate": (gate.shape, [256, 512]),
            "up": (up.shape, [256, 512]),
            "residual": (residual.shape, [256, 512]),
            "out": (out.shape, [256, 512]),
        }
    )
    for r in range(0, 256, 16):
        g = gate[r : r + 16, 0:512].to(torch.float32)  # FP32[16, 512]
        u = up[r : r + 16, 0:512].to(torch.float32)  # FP32[16, 512]
        sigmoid = torch.reciprocal(torch.exp(-g) + 1.0)  # FP32[16, 512]
        y = g * sigmoid * u  # FP32[16, 512]
        out = _assemble(out, y + residual[r : r + 16, 0:512], [r, 0])  # FP32[256, 512]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
