"""_jit_rope

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor, _tensor_slice


def rope(q, positions, cos, sin, out):
    """Orchestration function."""
    _check_tensor("q", q, [128, 128], torch.float32)
    _check_tensor("positions", positions, [8], torch.int32)
    _check_tensor("cos", cos, [256, 64], torch.float32)
    _check_tensor("sin", sin, [256, 64], torch.float32)
    _check_tensor("out", out, [128, 128], torch.float32)
    for b in range(8):
        position = positions[b].item()
        c = _tensor_slice(cos, [1, 64], [position, 0])
        _check_tensor("c", c, [1, 64], torch.float32)
        s = _tensor_slice(sin, [1, 64], [position, 0])
        _check_tensor("s", s, [1, 64], torch.float32)
        r = b * 16
        lo = q[r : r + 16, 0:64].clone()
        _check_tensor("lo", lo, [16, 64], torch.float32)
        hi = q[r : r + 16, 64:128].clone()
        _check_tensor("hi", hi, [16, 64], torch.float32)
        out = _assemble(out, ((lo * c) - (hi * s)), [r, 0])
        _check_tensor("out", out, [128, 128], torch.float32)
        out = _assemble(out, ((hi * c) + (lo * s)), [r, 64])
        _check_tensor("out", out, [128, 128], torch.float32)
    return out
