"""BlockTableGather. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _tile_slice


def main(pool, table, out):
    """Opaque function. In: pool, table. Out: out."""
    _compare_shapes(
        {"pool": (pool.shape, [192, 64]), "table": (table.shape, [4]), "out": (out.shape, [16, 64])}
    )
    acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=pool.device)  # FP32[16, 64]
    for i in range(4):
        blk = table[i].item()
        acc = acc + _tile_slice(pool, [16, 64], [blk * 16, 0])  # FP32[16, 64]
    out = _assemble(out, acc, [0, 0])  # FP32[16, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
