"""Rank3Heads

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(x__ssa_v0, scale__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [4, 16, 64], torch.float32)
    _check_tensor("scale__ssa_v0", scale__ssa_v0, [4, 64], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [4, 16, 64], torch.float32)
    out__iter_v1 = out__ssa_v0
    for h__idx_v0 in range(4):
        out__ssa_v3 = head(x__ssa_v0, h__idx_v0, scale__ssa_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [4, 16, 64], torch.float32)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def head(x__ssa_v0, h__idx_v0, scale__ssa_v0, out__iter_v1):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("scale__ssa_v0", scale__ssa_v0, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    slice_load = _tile_slice(x__ssa_v0, [1, 16, 64], [h__idx_v0, 0, 0]).reshape([16, 64])
    _check_tensor("slice_load", slice_load, [16, 64], torch.float32)
    t__tile = slice_load
    _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
    s__tile = _tile_slice(scale__ssa_v0, [1, 64], [h__idx_v0, 0])
    _check_tensor("s__tile", s__tile, [1, 64], torch.float32)
    y__tile = t__tile * s__tile
    _check_tensor("y__tile", y__tile, [16, 64], torch.float32)
    t__tile_1 = y__tile.reshape([1, 16, 64])
    _check_tensor("t__tile_1", t__tile_1, [1, 16, 64], torch.float32)
    flat_tile = t__tile_1.reshape([16, 64])
    _check_tensor("flat_tile", flat_tile, [16, 64], torch.float32)
    out__tile = _tile_store(flat_tile, [h__idx_v0, 0, 0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [4, 16, 64], torch.float32)
    return out__iter_v1
