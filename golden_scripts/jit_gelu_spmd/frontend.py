"""_jit_gelu

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor, _get_block_idx, _spmd_blocks, _tile_slice


def gelu(x, y):
    """Orchestration function."""
    _check_tensor("x", x, [128, 192], torch.float32)
    _check_tensor("y", y, [128, 192], torch.float32)
    for _ in _spmd_blocks(4):
        b = _get_block_idx()
        r = b * 32
        t = _tile_slice(x, [32, 192], [r, 0])
        _check_tensor("t", t, [32, 192], torch.float32)
        s = torch.reciprocal((torch.exp((t * -1.702)) + 1.0))
        _check_tensor("s", s, [32, 192], torch.float32)
        y = _assemble(y, (t * s), [r, 0])
        _check_tensor("y", y, [128, 192], torch.float32)
    return y
