"""_jit_gelu. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _assemble,
    _compare_shapes,
    _get_block_idx,
    _spmd_blocks,
    _tile_slice,
)


def gelu(x, y):
    """Orchestration function. In: x. Out: y."""
    _compare_shapes({"x": (x.shape, [128, 192]), "y": (y.shape, [128, 192])})
    for _ in _spmd_blocks(4):
        b = _get_block_idx()
        r = b * 32
        t = _tile_slice(x, [32, 192], [r, 0])  # FP32[32, 192]
        s = torch.reciprocal(torch.exp(t * -1.702) + 1.0)  # FP32[32, 192]
        y = _assemble(y, t * s, [r, 0])  # FP32[128, 192]
    return y


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
