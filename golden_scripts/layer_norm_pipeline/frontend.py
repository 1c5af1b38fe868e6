"""LayerNorm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(x, w, b, out):
    """Opaque function. In: x, w, b. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [32, 640]),
            "w": (w.shape, [1, 640]),
            "b": (b.shape, [1, 640]),
            "out": (out.shape, [32, 640]),
        }
    )
    for r in range(0, 32, 16):
        head = x[r : r + 16, 0:128]  # FP32[16, 128]
        s1 = torch.sum(head, dim=-1, keepdim=True)  # FP32[16, 1]
        s2 = torch.sum(head * head, dim=-1, keepdim=True)  # FP32[16, 1]
        for c in range(128, 640, 128):
            t = x[r : r + 16, c : c + 128].clone()  # FP32[16, 128]
            s1 = s1 + torch.sum(t, dim=-1, keepdim=True)  # FP32[16, 1]
            s2 = s2 + torch.sum(t * t, dim=-1, keepdim=True)  # FP32[16, 1]
        mean = s1 * 0.0015625  # FP32[16, 1]
        var = s2 * 0.0015625 - mean * mean  # FP32[16, 1]
        inv = torch.rsqrt(var + 1e-05)  # FP32[16, 1]
        for c_1 in range(0, 640, 128):
            t = x[r : r + 16, c_1 : c_1 + 128].clone()  # FP32[16, 128]
            n = (t - mean) * inv  # FP32[16, 128]
            y = n * w[0:1, c_1 : c_1 + 128] + b[0:1, c_1 : c_1 + 128]  # FP32[16, 128]
            out = _assemble(out, y, [r, c_1])  # FP32[32, 640]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
