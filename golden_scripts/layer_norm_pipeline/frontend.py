"""LayerNorm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(x, w, b, out):
    """Opaque function."""
    _check_tensor("x", x, [32, 640], torch.float32)
    _check_tensor("w", w, [1, 640], torch.float32)
    _check_tensor("b", b, [1, 640], torch.float32)
    _check_tensor("out", out, [32, 640], torch.float32)
    for r in range(0, 32, 16):
        head = x[r : r + 16, 0:128]
        _check_tensor("head", head, [16, 128], torch.float32)
        s1 = torch.sum(head, dim=-1, keepdim=True)
        _check_tensor("s1", s1, [16, 1], torch.float32)
        s2 = torch.sum((head * head), dim=-1, keepdim=True)
        _check_tensor("s2", s2, [16, 1], torch.float32)
        for c in range(128, 640, 128):
            t = x[r : r + 16, c : c + 128].clone()
            _check_tensor("t", t, [16, 128], torch.float32)
            s1 = s1 + torch.sum(t, dim=-1, keepdim=True)
            _check_tensor("s1", s1, [16, 1], torch.float32)
            s2 = s2 + torch.sum((t * t), dim=-1, keepdim=True)
            _check_tensor("s2", s2, [16, 1], torch.float32)
        mean = s1 * 0.0015625
        _check_tensor("mean", mean, [16, 1], torch.float32)
        var = (s2 * 0.0015625) - (mean * mean)
        _check_tensor("var", var, [16, 1], torch.float32)
        inv = torch.rsqrt((var + 1e-05))
        _check_tensor("inv", inv, [16, 1], torch.float32)
        for c_1 in range(0, 640, 128):
            t = x[r : r + 16, c_1 : c_1 + 128].clone()
            _check_tensor("t", t, [16, 128], torch.float32)
            n = (t - mean) * inv
            _check_tensor("n", n, [16, 128], torch.float32)
            y = (n * w[0:1, c_1 : c_1 + 128]) + b[0:1, c_1 : c_1 + 128]
            _check_tensor("y", y, [16, 128], torch.float32)
            out = _assemble(out, y, [r, c_1])
            _check_tensor("out", out, [32, 640], torch.float32)
    return out
