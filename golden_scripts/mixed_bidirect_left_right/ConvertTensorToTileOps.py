"""Mixed

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_store


def main(a__ssa_v0, b__ssa_v0, c__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [32, 64], torch.float32)
    _check_tensor("b__ssa_v0", b__ssa_v0, [64, 256], torch.float32)
    _check_tensor("c__ssa_v0", c__ssa_v0, [32, 256], torch.float32)
    c__rv_v2 = main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0)
    _check_tensor("c__rv_v2", c__rv_v2, [32, 256], torch.float32)
    return c__rv_v2


def main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """InCore function."""
    _check_dtype("c__ssa_v0", c__ssa_v0, torch.float32)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float32)
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    a__tile = a__ssa_v0[0:32, 0:64].clone()
    _check_tensor("a__tile", a__tile, [32, 64], torch.float32)
    c__iter_v1 = c__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        prev__tile = c__iter_v1[0:32, n__idx_v0 : n__idx_v0 + 64]
        _check_tensor("prev__tile", prev__tile, [32, 64], torch.float32)
        bt__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64]
        _check_tensor("bt__tile", bt__tile, [64, 64], torch.float32)
        scaled__tile = a__tile * 0.25
        _check_tensor("scaled__tile", scaled__tile, [32, 64], torch.float32)
        t__tile = torch.matmul(scaled__tile, bt__tile).float()
        _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
        nxt__tile = prev__tile + t__tile
        _check_tensor("nxt__tile", nxt__tile, [32, 64], torch.float32)
        c__tile = _tile_store(nxt__tile, [0, n__idx_v0], c__iter_v1)
        _check_tensor("c__tile", c__tile, [32, 256], torch.float32)
        c__iter_v1 = c__tile
    c__rv_v2 = c__iter_v1
    return c__ssa_v0
