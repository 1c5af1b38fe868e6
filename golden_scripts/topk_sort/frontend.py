"""TopkSort

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _assemble,
    _check_tensor,
    _ci,
    _mrgsort_format1,
    _sort32,
    _tile_slice,
)


def main(scores, vals, idx):
    """Opaque function."""
    _check_tensor("scores", scores, [8, 128], torch.float32)
    _check_tensor("vals", vals, [8, 16], torch.float32)
    _check_tensor("idx", idx, [8, 16], torch.int32)
    for r in range(8):
        row = scores[r : r + 1, 0:128]
        _check_tensor("row", row, [1, 128], torch.float32)
        ids = _ci(0, [1, 128], torch.uint32, device=scores.device)
        _check_tensor("ids", ids, [1, 128], torch.uint32)
        runs = _sort32(row, ids)
        _check_tensor("runs", runs, [1, 256], torch.float32)
        merged = _mrgsort_format1(runs, 64)
        _check_tensor("merged", merged, [1, 256], torch.float32)
        pairs = _tile_slice(merged, [1, 32], [0, 0])
        _check_tensor("pairs", pairs, [1, 32], torch.float32)
        v = pairs[..., 0::2].clone()
        _check_tensor("v", v, [1, 16], torch.float32)
        i = pairs[..., 1::2].clone().view(torch.int32)
        _check_tensor("i", i, [1, 16], torch.int32)
        vals = _assemble(vals, v, [r, 0])
        _check_tensor("vals", vals, [8, 16], torch.float32)
        idx = _assemble(idx, i, [r, 0])
        _check_tensor("idx", idx, [8, 16], torch.int32)
    return vals, idx
