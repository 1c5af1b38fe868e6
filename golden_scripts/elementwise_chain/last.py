"""ElementwiseChain

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [96, 64], torch.float32)
    _check_tensor("y__ssa_v0", y__ssa_v0, [96, 64], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [96, 64], torch.float32)
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, 96, 32):
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, y__ssa_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [96, 64], torch.float32)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, y__ssa_v0, out__iter_v1):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("y__ssa_v0", y__ssa_v0, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    a__tile = _tile_slice(x__ssa_v0, [32, 64], [r__idx_v0, 0])
    _check_tensor("a__tile", a__tile, [32, 64], torch.float32)
    b__tile = _tile_slice(y__ssa_v0, [32, 64], [r__idx_v0, 0])
    _check_tensor("b__tile", b__tile, [32, 64], torch.float32)
    t__tile = a__tile + b__tile
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    c__tile = t__tile * 0.5
    _check_tensor("c__tile", c__tile, [32, 64], torch.float32)
    t__tile_1 = torch.abs(b__tile)
    _check_tensor("t__tile_1", t__tile_1, [32, 64], torch.float32)
    t__tile_2 = -t__tile_1
    _check_tensor("t__tile_2", t__tile_2, [32, 64], torch.float32)
    t__tile_3 = torch.exp(t__tile_2)
    _check_tensor("t__tile_3", t__tile_3, [32, 64], torch.float32)
    d__tile = c__tile - t__tile_3
    _check_tensor("d__tile", d__tile, [32, 64], torch.float32)
    t__tile_4 = torch.maximum(d__tile, a__tile)
    _check_tensor("t__tile_4", t__tile_4, [32, 64], torch.float32)
    out__tile = _tile_store(t__tile_4, [r__idx_v0, 0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [96, 64], torch.float32)
    return out__iter_v1
