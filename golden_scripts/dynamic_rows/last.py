"""DynamicRows

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_extents, _check_tensor, _tile_load, _tile_store


def main(x__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [None, 64], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [None, 64], torch.float32)
    _check_extents(
        "N_ROWS",
        {"axis 0 of x__ssa_v0": x__ssa_v0.shape[0], "axis 0 of out__ssa_v0": out__ssa_v0.shape[0]},
    )
    N_ROWS = x__ssa_v0.shape[0]
    out__iter_v1 = out__ssa_v0
    for r__idx_v0 in range(0, N_ROWS, 32):
        valid__ssa_v0 = min(N_ROWS - r__idx_v0, 32)
        out__ssa_v3 = main_incore_0(x__ssa_v0, r__idx_v0, valid__ssa_v0, out__iter_v1)
        _check_tensor("out__ssa_v3", out__ssa_v3, [None, 64], torch.float32)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(x__ssa_v0, r__idx_v0, valid__ssa_v0, out__iter_v1):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.float32)
    t__tile = _tile_load(x__ssa_v0, [r__idx_v0, 0], [32, 64], [valid__ssa_v0, 64])
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    t__tile_1 = t__tile * 2.0
    _check_tensor("t__tile_1", t__tile_1, [32, 64], torch.float32)
    t__tile_2 = t__tile_1 + 1.0
    _check_tensor("t__tile_2", t__tile_2, [32, 64], torch.float32)
    out__tile = _tile_store(t__tile_2, [r__idx_v0, 0], out__iter_v1, [valid__ssa_v0, 64])
    _check_tensor("out__tile", out__tile, [None, 64], torch.float32)
    return out__iter_v1
