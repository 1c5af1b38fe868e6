"""Mixed. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _compare_shapes,
    _cross_core_rt,
    _run_group_call,
    _tile_store,
    _writes_land,
)


def main(a__ssa_v0, b__ssa_v0, c__ssa_v0):
    """Orchestration function. In: a__ssa_v0, b__ssa_v0. InOut: c__ssa_v0."""
    _compare_shapes(
        {
            "a__ssa_v0": (a__ssa_v0.shape, [32, 64]),
            "b__ssa_v0": (b__ssa_v0.shape, [64, 256]),
            "c__ssa_v0": (c__ssa_v0.shape, [32, 256]),
        }
    )
    c__rv_v2 = _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0)  # FP32[32, 256]
    return c__rv_v2


def main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """Group of kernels (cube and vector core). In: b__ssa_v0, a__ssa_v0. InOut: c__ssa_v0."""
    return _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0)


def main_incore_0_aic(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """AIC kernel (cube core). In: b__ssa_v0, a__ssa_v0. InOut: c__ssa_v0."""
    _cross_core_rt.initialize_pipe("aic", 3, 2)
    for n__idx_v0 in range(0, 256, 64):
        bt__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64].clone()  # FP32[64, 64]
        scaled__tile_Left_mat = _cross_core_rt.pop_from_aiv(0)  # FP32[32, 64]
        _cross_core_rt.tfree_to_aiv()
        t__tile = torch.matmul(scaled__tile_Left_mat, bt__tile).float()  # FP32[32, 64]
        _cross_core_rt.push_to_aiv(t__tile, 0, copy=False)


def main_incore_0_aiv(c__ssa_v0, b__ssa_v0, a__ssa_v0):
    """AIV kernel (vector core). In: b__ssa_v0, a__ssa_v0. InOut: c__ssa_v0."""
    _cross_core_rt.initialize_pipe("aiv", 3, 2)
    a__tile = a__ssa_v0[0:32, 0:64].clone()  # FP32[32, 64]
    c__iter_v1 = c__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        prev__tile = c__iter_v1[0:32, n__idx_v0 : n__idx_v0 + 64].clone()  # FP32[32, 64]
        scaled__tile = a__tile * 0.25  # FP32[32, 64]
        _cross_core_rt.push_to_aic(scaled__tile, 0, copy=False)
        t__tile_Vec = _cross_core_rt.pop_from_aic(0)  # FP32[32, 64]
        nxt__tile = prev__tile + t__tile_Vec  # FP32[32, 64]
        _cross_core_rt.tfree_to_aic()
        c__tile = (
            _tile_store(nxt__tile, [0, n__idx_v0], c__iter_v1) if _writes_land() else c__iter_v1
        )
        c__iter_v1 = c__tile
    return c__ssa_v0


_GROUP_META = {
    "main_incore_0": {
        "aic": "main_incore_0_aic",
        "aiv": "main_incore_0_aiv",
        "split": 0,
        "dual_aiv_dispatch": True,
        "lane1_writes": False,
    },
}


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
