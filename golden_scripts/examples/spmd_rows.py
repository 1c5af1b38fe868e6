"""_jit_scale_rows. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _assemble,
    _compare_shapes,
    _get_block_idx,
    _spmd_blocks,
    _tensor_slice,
)


def scale_rows(x, factor, out):
    """Orchestration function. In: x, factor. Out: out."""
    _compare_shapes({"x": (x.shape, ["ROWS", 256]), "out": (out.shape, ["ROWS", 256])})
    ROWS = x.shape[0]
    blocks = (ROWS + 32 - 1) // 32
    for _ in _spmd_blocks(blocks):
        b = _get_block_idx()
        r = b * 32
        part = _tensor_slice(x, [32, 256], [r, 0], [min(32, ROWS - r), 256])
        norm = torch.sqrt((torch.sum(part * part, dim=-1, keepdim=True) + 1e-06).double()).float()
        out = _assemble(out, part / norm * factor, [r, 0])  # FP32[ROWS, 256]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
