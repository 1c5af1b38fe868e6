"""_jit_scale_rows

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _assemble,
    _check_extents,
    _check_tensor,
    _get_block_idx,
    _spmd_blocks,
    _tensor_slice,
)


def scale_rows(x, factor, out):
    """Orchestration function."""
    _check_tensor("x", x, [None, 256], torch.float32)
    _check_tensor("out", out, [None, 256], torch.float32)
    _check_extents("ROWS", {"axis 0 of x": x.shape[0], "axis 0 of out": out.shape[0]})
    ROWS = x.shape[0]
    blocks = (ROWS + 32 - 1) // 32
    for _ in _spmd_blocks(blocks):
        b = _get_block_idx()
        r = b * 32
        part = _tensor_slice(x, [32, 256], [r, 0], [min(32, ROWS - r), 256])
        _check_tensor("part", part, [32, 256], torch.float32)
        norm = torch.sqrt((torch.sum((part * part), dim=-1, keepdim=True) + 1e-06).double()).float()
        _check_tensor("norm", norm, [32, 1], torch.float32)
        out = _assemble(out, ((part / norm) * factor), [r, 0])
        _check_tensor("out", out, [None, 256], torch.float32)
    return out
