"""BlockTableGather

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor, _tile_slice


def main(pool, table, out):
    """Opaque function."""
    _check_tensor("pool", pool, [192, 64], torch.float32)
    _check_tensor("table", table, [4], torch.int32)
    _check_tensor("out", out, [16, 64], torch.float32)
    acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=pool.device)
    _check_tensor("acc", acc, [16, 64], torch.float32)
    for i in range(4):
        blk = table[i].item()
        acc = acc + _tile_slice(pool, [16, 64], [blk * 16, 0])
        _check_tensor("acc", acc, [16, 64], torch.float32)
    out = _assemble(out, acc, [0, 0])
    _check_tensor("out", out, [16, 64], torch.float32)
    return out
