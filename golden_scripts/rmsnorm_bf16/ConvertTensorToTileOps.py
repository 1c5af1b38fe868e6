"""RmsNorm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(x__ssa_v0, w__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [64, 256], torch.float32)
    _check_tensor("w__ssa_v0", w__ssa_v0, [1, 256], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [64, 256], torch.bfloat16)
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 64, 16):
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, w__ssa_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [64, 256], torch.bfloat16)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, w__ssa_v0, out__iter_v1):
    """InCore function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("w__ssa_v0", w__ssa_v0, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.bfloat16)
    w__tile = w__ssa_v0[0:1, 0:256]
    _check_tensor("w__tile", w__tile, [1, 256], torch.float32)
    t__tile = _tile_slice(x__ssa_v0, [16, 256], [r__idx_v0, 0])
    _check_tensor("t__tile", t__tile, [16, 256], torch.float32)
    t__tile_1 = t__tile * t__tile
    _check_tensor("t__tile_1", t__tile_1, [16, 256], torch.float32)
    tmp_tile = torch.zeros([16, 256], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile", tmp_tile, [16, 256], torch.float32)
    t__tile_2 = torch.sum(t__tile_1, dim=-1, keepdim=True)
    _check_tensor("t__tile_2", t__tile_2, [16, 1], torch.float32)
    ms__tile = t__tile_2 * 0.00390625
    _check_tensor("ms__tile", ms__tile, [16, 1], torch.float32)
    t__tile_3 = ms__tile + 1e-06
    _check_tensor("t__tile_3", t__tile_3, [16, 1], torch.float32)
    inv__tile = torch.rsqrt(t__tile_3)
    _check_tensor("inv__tile", inv__tile, [16, 1], torch.float32)
    t__tile_4 = t__tile * inv__tile
    _check_tensor("t__tile_4", t__tile_4, [16, 256], torch.float32)
    n__tile = t__tile_4 * w__tile
    _check_tensor("n__tile", n__tile, [16, 256], torch.float32)
    t__tile_5 = n__tile.to(torch.bfloat16)
    _check_tensor("t__tile_5", t__tile_5, [16, 256], torch.bfloat16)
    out__tile = _tile_store(t__tile_5, [r__idx_v0, 0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [64, 256], torch.bfloat16)
    return out__iter_v1
