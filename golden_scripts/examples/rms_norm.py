"""_jit_rms_norm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def rms_norm(x, gamma, out):
    """Orchestration function. In: x, gamma. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [64, 1024]),
            "gamma": (gamma.shape, [1, 1024]),
            "out": (out.shape, [64, 1024]),
        }
    )
    for r in range(0, 64, 16):
        total = torch.full([16, 1], 0.0, dtype=torch.float32, device=x.device)  # FP32[16, 1]
        for c in range(0, 1024, 256):
            part = x[r : r + 16, c : c + 256].to(torch.float32)  # FP32[16, 256]
            total = total + torch.sum(part * part, dim=-1, keepdim=True)  # FP32[16, 1]
        scale = torch.rsqrt(total * 0.0009765625 + 1e-06)  # FP32[16, 1]
        for c_1 in range(0, 1024, 256):
            part_v1 = x[r : r + 16, c_1 : c_1 + 256].to(torch.float32)  # FP32[16, 256]
            y = part_v1 * scale * gamma[0:1, c_1 : c_1 + 256]  # FP32[16, 256]
            out = _assemble(out, y.to(torch.bfloat16), [r, c_1])  # BF16[64, 1024]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
