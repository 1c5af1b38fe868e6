"""Mixed. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _compare_shapes,
    _cross_core_rt,
    _get_subblock_idx,
    _run_group_call,
    _tile_load,
    _tile_store,
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
    gm_pipe_buffer_0 = torch.zeros([1], dtype=torch.float32, device=a__ssa_v0.device)  # FP32[1]
    c__rv_v2 = _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0, gm_pipe_buffer_0)
    return c__rv_v2


def main_incore_0(c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer):
    """Group of kernels (cube and vector core).

    In: b__ssa_v0, a__ssa_v0.
    InOut: c__ssa_v0.
    Out: __gm_pipe_buffer.
    """
    return _run_group_call("main_incore_0", c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer)


def main_incore_0_aic(c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer):
    """AIC kernel (cube core). In: b__ssa_v0, a__ssa_v0. InOut: c__ssa_v0. Out: __gm_pipe_buffer."""
    _cross_core_rt.initialize_pipe("aic", 3, 2)
    for n__idx_v0 in range(0, 256, 64):
        bt__tile = b__ssa_v0[0:64, n__idx_v0 : n__idx_v0 + 64].clone()  # FP32[64, 64]
        scaled__tile_Left_mat = _cross_core_rt.pop_from_aiv(2)  # FP32[32, 64]
        _cross_core_rt.tfree_to_aiv(split=2)
        t__tile = torch.matmul(scaled__tile_Left_mat, bt__tile).float()  # FP32[32, 64]
        _cross_core_rt.push_to_aiv(t__tile, 2, copy=False)


def main_incore_0_aiv(c__ssa_v0, b__ssa_v0, a__ssa_v0, __gm_pipe_buffer):
    """AIV kernel (vector core).

    In: b__ssa_v0, a__ssa_v0.
    InOut: c__ssa_v0.
    Out: __gm_pipe_buffer.
    """
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 3, 2)
    a__tile = _tile_load(a__ssa_v0, [0, subblock_idx * 32], [32, 32])  # FP32[32, 32]
    c__iter_v1 = c__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        prev__tile = _tile_load(c__iter_v1, [0, n__idx_v0 + subblock_idx * 32], [32, 32])
        scaled__tile = a__tile * 0.25  # FP32[32, 32]
        _cross_core_rt.push_to_aic(scaled__tile, 2, copy=False)
        t__tile_Vec = _cross_core_rt.pop_from_aic(2)  # FP32[32, 32]
        nxt__tile = prev__tile + t__tile_Vec  # FP32[32, 32]
        _cross_core_rt.tfree_to_aic(split=2)
        c__tile = _tile_store(nxt__tile, [0, n__idx_v0 + subblock_idx * 32], c__iter_v1)
        c__iter_v1 = c__tile
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


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
