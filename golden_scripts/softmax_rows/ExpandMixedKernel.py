"""SoftmaxRows

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(x__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [128, 96], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [128, 96], torch.float32)
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 128, 32):
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [128, 96], torch.float32)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, out__iter_v1):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    t__tile = _tile_slice(x__ssa_v0, [32, 96], [r__idx_v0, 0])
    _check_tensor("t__tile", t__tile, [32, 96], torch.float32)
    tmp_tile = torch.zeros([32, 128], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile", tmp_tile, [32, 128], torch.float32)
    t__tile_1 = torch.amax(t__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile_1", t__tile_1, [32, 1], torch.float32)
    t__tile_2 = t__tile - t__tile_1
    _check_tensor("t__tile_2", t__tile_2, [32, 96], torch.float32)
    e__tile = torch.exp(t__tile_2)
    _check_tensor("e__tile", e__tile, [32, 96], torch.float32)
    tmp_tile_1 = torch.zeros([32, 128], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile_1", tmp_tile_1, [32, 128], torch.float32)
    t__tile_3 = torch.sum(e__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile_3", t__tile_3, [32, 1], torch.float32)
    p__tile = e__tile / t__tile_3
    _check_tensor("p__tile", p__tile, [32, 96], torch.float32)
    out__tile = _tile_store(p__tile, [r__idx_v0, 0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [128, 96], torch.float32)
    return out__iter_v1
