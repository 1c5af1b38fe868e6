"""RaggedTailMax

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _fillpad, _tile_load, _tile_store


def main(x, out):
    """Orchestration function."""
    _check_tensor("x", x, [32, 160], torch.float32)
    _check_tensor("out", out, [32, 1], torch.float32)
    out = kernel(x, 150, out)
    _check_tensor("out", out, [32, 1], torch.float32)
    return out


def kernel(x, n_valid, out):
    """InCore function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("out", out, torch.float32)
    head = x[0:32, 0:64]
    _check_tensor("head", head, [32, 64], torch.float32)
    tmp0 = torch.zeros([32, 64], dtype=torch.float32, device=x.device)
    _check_tensor("tmp0", tmp0, [32, 64], torch.float32)
    best = torch.amax(head, dim=-1, keepdim=True)
    _check_tensor("best", best, [32, 1], torch.float32)
    for c in range(64, 160, 64):
        width = min(64, n_valid - c)
        t = _tile_load(x, [0, c], [32, 64], [32, width])
        _check_tensor("t", t, [32, 64], torch.float32)
        p = _fillpad(t, "min", [32, width])
        _check_tensor("p", p, [32, 64], torch.float32)
        tmp = torch.zeros([32, 64], dtype=torch.float32, device=x.device)
        _check_tensor("tmp", tmp, [32, 64], torch.float32)
        best = torch.maximum(best, torch.amax(p, dim=-1, keepdim=True))
        _check_tensor("best", best, [32, 1], torch.float32)
    out = _tile_store(best, [0, 0], out)
    _check_tensor("out", out, [32, 1], torch.float32)
    return out
