"""CrossCoreOdd. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _compare_shapes,
    _cross_core_rt,
    _get_subblock_idx,
    _region,
    _run_group_call,
    _tile_load,
    _tile_store,
)


def main(x, out):
    """Orchestration function. In: x. Out: out."""
    _compare_shapes({"x": (x.shape, [15, 32]), "out": (out.shape, [15, 32])})
    return _run_group_call("odd", x, out)


def odd(x, out):
    """Group of kernels (cube and vector core). In: x. Out: out."""
    return _run_group_call("odd", x, out)


def odd_aic(x, out):
    """AIC kernel (cube core). In: x. Out: out."""
    t = _tile_load(x, [0, 0], [16, 32], [15, 32])  # FP32[16, 32] valid [15, 32]
    _cross_core_rt.push_to_aiv(t, 3, valid_shape=[15, 32], copy=False)


def odd_aiv(x, out):
    """AIV kernel (vector core). In: x. Out: out."""
    lane = _get_subblock_idx()
    half = _cross_core_rt.pop_from_aic(3)  # FP32[8, 32]
    half_valid = _region(half)
    out = _tile_store(half + half, [lane * 8, 0], out, half_valid)  # FP32[15, 32]
    return out


_GROUP_META = {
    "odd": {
        "aic": "odd_aic",
        "aiv": "odd_aiv",
        "split": 3,
        "dual_aiv_dispatch": False,
        "lane1_writes": True,
    },
}


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
