"""CrossCoreExplicit. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _compare_shapes,
    _cross_core_rt,
    _get_subblock_idx,
    _run_group_call,
    _tile_load,
    _tile_store,
)


def main(a, b, bias, out):
    """Orchestration function. In: a, b, bias. Out: out."""
    _compare_shapes(
        {
            "a": (a.shape, [32, 64]),
            "b": (b.shape, [64, 64]),
            "bias": (bias.shape, [32, 64]),
            "out": (out.shape, [32, 64]),
        }
    )
    return _run_group_call("fused", a, b, bias, out)


def fused(a, b, bias, out):
    """Group of kernels (cube and vector core). In: a, b, bias. Out: out."""
    return _run_group_call("fused", a, b, bias, out)


def fused_aic(a, b, bias, out):
    """AIC kernel (cube core). In: a, b, bias. Out: out."""
    scaled = _cross_core_rt.pop_from_aiv(1)  # FP32[32, 64]
    b_l1 = b[0:64, 0:64].clone()  # FP32[64, 64]
    _cross_core_rt.push_to_aiv(torch.matmul(scaled, b_l1).float(), 1, copy=False)
    _cross_core_rt.tfree_to_aiv()


def fused_aiv(a, b, bias, out):
    """AIV kernel (vector core). In: a, b, bias. Out: out."""
    lane = _get_subblock_idx()
    row = lane * 16
    a_half = _tile_load(a, [row, 0], [16, 64])  # FP32[16, 64]
    _cross_core_rt.push_to_aic(a_half * 0.25, 1, copy=False)
    bias_half = _tile_load(bias, [row, 0], [16, 64])  # FP32[16, 64]
    prod = _cross_core_rt.pop_from_aic(1)  # FP32[16, 64]
    total = prod + bias_half  # FP32[16, 64]
    _cross_core_rt.tfree_to_aic()
    out = _tile_store(total, [row, 0], out)  # FP32[32, 64]
    return out


_GROUP_META = {
    "fused": {
        "aic": "fused_aic",
        "aiv": "fused_aiv",
        "split": 1,
        "dual_aiv_dispatch": False,
        "lane1_writes": True,
    },
}


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
