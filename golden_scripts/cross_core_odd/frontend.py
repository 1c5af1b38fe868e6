"""CrossCoreOdd

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _check_dtype,
    _check_tensor,
    _cross_core_rt,
    _get_subblock_idx,
    _region,
    _run_group_call,
    _tile_load,
    _tile_store,
)


def main(x, out):
    """Orchestration function."""
    _check_tensor("x", x, [15, 32], torch.float32)
    _check_tensor("out", out, [15, 32], torch.float32)
    return _run_group_call("odd", x, out)


def odd(x, out):
    """Group function."""
    return _run_group_call("odd", x, out)


def odd_aic(x, out):
    """AIC function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("out", out, torch.float32)
    t = _tile_load(x, [0, 0], [16, 32], [15, 32])
    _check_tensor("t", t, [16, 32], torch.float32)
    _cross_core_rt.push_to_aiv(t, 3, valid_shape=[15, 32], copy=False)


def odd_aiv(x, out):
    """AIV function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("out", out, torch.float32)
    lane = _get_subblock_idx()
    half = _cross_core_rt.pop_from_aic(3)
    half_valid = _region(half)
    _check_tensor("half", half, [8, 32], torch.float32)
    out = _tile_store((half + half), [lane * 8, 0], out, half_valid)
    _check_tensor("out", out, [15, 32], torch.float32)
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
