"""RaggedTailMax. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _fillpad, _tile_load, _tile_store


def main(x, out):
    """Orchestration function. In: x. Out: out."""
    _compare_shapes({"x": (x.shape, [32, 160]), "out": (out.shape, [32, 1])})
    out = kernel(x, 150, out)  # FP32[32, 1]
    return out


def kernel(x, n_valid, out):
    """InCore kernel. In: x, n_valid. Out: out."""
    head = x[0:32, 0:64]  # FP32[32, 64]
    best = torch.amax(head, dim=-1, keepdim=True)  # FP32[32, 1]
    for c in range(64, 160, 64):
        width = min(64, n_valid - c)
        t = _tile_load(x, [0, c], [32, 64], [32, width])  # FP32[32, 64] valid [32, width]
        p = _fillpad(t, "min", [32, width])  # FP32[32, 64]
        best = torch.maximum(best, torch.amax(p, dim=-1, keepdim=True))  # FP32[32, 1]
    out = _tile_store(best, [0, 0], out)  # FP32[32, 1]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
