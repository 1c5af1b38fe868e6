"""BlockTableGather

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(pool__ssa_v0, table__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("pool__ssa_v0", pool__ssa_v0, [192, 64], torch.float32)
    _check_tensor("table__ssa_v0", table__ssa_v0, [4], torch.int32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [16, 64], torch.float32)
    out__ssa_v1 = main_incore_0(table__ssa_v0, pool__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [16, 64], torch.float32)
    return out__ssa_v1


def main_incore_0(table__ssa_v0, pool__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("table__ssa_v0", table__ssa_v0, torch.int32)
    _check_dtype("pool__ssa_v0", pool__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    acc__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=table__ssa_v0.device)
    _check_tensor("acc__tile", acc__tile, [16, 64], torch.float32)
    acc__iter_v1 = acc__tile
    for i__idx_v0 in range(4):
        t__tile = table__ssa_v0[i__idx_v0].item()
        blk__ssa_v0 = t__tile
        t__tile_1 = _tile_slice(pool__ssa_v0, [16, 64], [blk__ssa_v0 * 16, 0])
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
        acc__tile_1 = acc__iter_v1 + t__tile_1
        _check_tensor("acc__tile_1", acc__tile_1, [16, 64], torch.float32)
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    out__tile = _tile_store(acc__rv_v2, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [16, 64], torch.float32)
    return out__ssa_v0
