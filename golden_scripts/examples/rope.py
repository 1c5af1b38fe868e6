"""_jit_rope. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _tensor_slice


def rope(q, positions, cos, sin, out):
    """Orchestration function. In: q, positions, cos, sin. Out: out."""
    _compare_shapes(
        {
            "q": (q.shape, [128, 128]),
            "positions": (positions.shape, [8]),
            "cos": (cos.shape, [256, 64]),
            "sin": (sin.shape, [256, 64]),
            "out": (out.shape, [128, 128]),
        }
    )
    for b in range(8):
        position = positions[b].item()
        c = _tensor_slice(cos, [1, 64], [position, 0])  # FP32[1, 64]
        s = _tensor_slice(sin, [1, 64], [position, 0])  # FP32[1, 64]
        r = b * 16
        lo = q[r : r + 16, 0:64].clone()  # FP32[16, 64]
        hi = q[r : r + 16, 64:128].clone()  # FP32[16, 64]
        out = _assemble(out, lo * c - hi * s, [r, 0])  # FP32[128, 128]
        out = _assemble(out, hi * c + lo * s, [r, 64])  # FP32[128, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
