"""Mixed

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(a, b, c):
    """Opaque function."""
    _check_tensor("a", a, [32, 64], torch.float32)
    _check_tensor("b", b, [64, 256], torch.float32)
    _check_tensor("c", c, [32, 256], torch.float32)
    for n in range(0, 256, 64):
        prev = c[0:32, n : n + 64]
        _check_tensor("prev", prev, [32, 64], torch.float32)
        bt = b[0:64, n : n + 64]
        _check_tensor("bt", bt, [64, 64], torch.float32)
        scaled = a * 0.25
        _check_tensor("scaled", scaled, [32, 64], torch.float32)
        nxt = prev + torch.matmul(scaled, bt).float()
        _check_tensor("nxt", nxt, [32, 64], torch.float32)
        c = _assemble(c, nxt, [0, n])
        _check_tensor("c", c, [32, 256], torch.float32)
    return c
