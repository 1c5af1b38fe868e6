"""_jit_rms_norm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def rms_norm(x, gamma, out):
    """Orchestration function."""
    _check_tensor("x", x, [64, 1024], torch.bfloat16)
    _check_tensor("gamma", gamma, [1, 1024], torch.float32)
    _check_tensor("out", out, [64, 1024], torch.bfloat16)
    for r in range(0, 64, 16):
        total = torch.full([16, 1], 0.0, dtype=torch.float32, device=x.device)
        _check_tensor("total", total, [16, 1], torch.float32)
        for c in range(0, 1024, 256):
            part = x[r : r + 16, c : c + 256].to(torch.float32)
            _check_tensor("part", part, [16, 256], torch.float32)
            total = total + torch.sum((part * part), dim=-1, keepdim=True)
            _check_tensor("total", total, [16, 1], torch.float32)
        scale = torch.rsqrt(((total * 0.0009765625) + 1e-06))
        _check_tensor("scale", scale, [16, 1], torch.float32)
        for c_1 in range(0, 1024, 256):
            part_v1 = x[r : r + 16, c_1 : c_1 + 256].to(torch.float32)
            _check_tensor("part_v1", part_v1, [16, 256], torch.float32)
            y = (part_v1 * scale) * gamma[0:1, c_1 : c_1 + 256]
            _check_tensor("y", y, [16, 256], torch.float32)
            out = _assemble(out, y.to(torch.bfloat16), [r, c_1])
            _check_tensor("out", out, [64, 1024], torch.bfloat16)
    return out
