"""SplitKAtomic

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store_add


def main(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [32, 256], torch.bfloat16)
    _check_tensor("b__ssa_v0", b__ssa_v0, [256, 64], torch.bfloat16)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 64], torch.float32)
    out__iter_v1 = out__ssa_v0
    for k__idx_v0 in range(0, 256, 64):
        out__ssa_v3 = split_k(a__ssa_v0, k__idx_v0, b__ssa_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [32, 64], torch.float32)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def split_k(a__ssa_v0, k__idx_v0, b__ssa_v0, out__iter_v1):
    """AIC function."""
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.bfloat16)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.bfloat16)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    t__tile = _tile_slice(a__ssa_v0, [32, 64], [0, k__idx_v0])
    _check_tensor("t__tile", t__tile, [32, 64], torch.bfloat16)
    t__tile_1 = _tile_slice(b__ssa_v0, [64, 64], [k__idx_v0, 0])
    _check_tensor("t__tile_1", t__tile_1, [64, 64], torch.bfloat16)
    t__tile_Left = t__tile
    _check_tensor("t__tile_Left", t__tile_Left, [32, 64], torch.bfloat16)
    t__tile_Right = t__tile_1
    _check_tensor("t__tile_Right", t__tile_Right, [64, 64], torch.bfloat16)
    part__tile = torch.matmul(t__tile_Left.float(), t__tile_Right.float())
    _check_tensor("part__tile", part__tile, [32, 64], torch.float32)
    out__tile = _tile_store_add(part__tile, [0, 0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [32, 64], torch.float32)
    return out__iter_v1
