"""Mixed

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _check_dtype,
    _check_tensor,
    _cross_core_rt,
    _get_subblock_idx,
    _run_group_call,
    _tile_load,
    _tile_store,
)


def main(a__ssa_v0, b__ssa_v0, c__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [32, 64], torch.float32)
    _check_tensor("b__ssa_v0", b__ssa_v0, [64, 256], torch.float32)
    _check_tensor("c__ssa_v0", c__ssa_v0, [32, 256], torch.float32)
    c__rv_v2 = _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0)
    _check_tensor("c__rv_v2", c__rv_v2, [32, 256], torch.float32)
    return c__rv_v2


def main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """Group function."""
    return _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0)


def main_incore_0_aic(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """AIC function."""
    _check_dtype("c__ssa_v0", c__ssa_v0, torch.float32)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float32)
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    _cross_core_rt.initialize_pipe("aic", 3, 2)
    for n__idx_v0 in range(0, 256, 64):
        bt__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64].clone()
        _check_tensor("bt__tile", bt__tile, [64, 64], torch.float32)
        scaled__tile_Left_mat = _cross_core_rt.pop_from_aiv(2)
        _check_tensor("scaled__tile_Left_mat", scaled__tile_Left_mat, [32, 64], torch.float32)
        scaled__tile_Left = scaled__tile_Left_mat
        _check_tensor("scaled__tile_Left", scaled__tile_Left, [32, 64], torch.float32)
        _cross_core_rt.tfree_to_aiv()
        bt__tile_Right = bt__tile
        _check_tensor("bt__tile_Right", bt__tile_Right, [64, 64], torch.float32)
        t__tile = torch.matmul(scaled__tile_Left, bt__tile_Right).float()
        _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
        _cross_core_rt.push_to_aiv(t__tile, 2, copy=False)


def main_incore_0_aiv(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """AIV function."""
    _check_dtype("c__ssa_v0", c__ssa_v0, torch.float32)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float32)
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float32)
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 3, 2)
    a__tile = _tile_load(a__ssa_v0, [0, 0 + subblock_idx * 32], [32, 32])
    _check_tensor("a__tile", a__tile, [32, 32], torch.float32)
    c__iter_v1 = c__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        prev__tile = _tile_load(c__iter_v1, [0, n__idx_v0 + subblock_idx * 32], [32, 32])
        _check_tensor("prev__tile", prev__tile, [32, 32], torch.float32)
        scaled__tile = a__tile * 0.25
        _check_tensor("scaled__tile", scaled__tile, [32, 32], torch.float32)
        _cross_core_rt.push_to_aic(scaled__tile, 2, copy=False)
        t__tile_Vec = _cross_core_rt.pop_from_aic(2)
        _check_tensor("t__tile_Vec", t__tile_Vec, [32, 32], torch.float32)
        nxt__tile = prev__tile + t__tile_Vec
        _check_tensor("nxt__tile", nxt__tile, [32, 32], torch.float32)
        _cross_core_rt.tfree_to_aic()
        c__tile = _tile_store(nxt__tile, [0, n__idx_v0 + subblock_idx * 32], c__iter_v1)
        _check_tensor("c__tile", c__tile, [32, 256], torch.float32)
        c__iter_v1 = c__tile
    c__rv_v2 = c__iter_v1
    return c__ssa_v0


_GROUP_META = {
    "main_incore_0": {
        "aic": "main_incore_0_aic",
        "aiv": "main_incore_0_aiv",
        "split": 2,
        "dual_aiv_dispatch": False,
        "lane1_writes": True,
    },
}
