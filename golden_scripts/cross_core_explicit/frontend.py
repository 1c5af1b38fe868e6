"""CrossCoreExplicit

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


def main(a, b, bias, out):
    """Orchestration function."""
    _check_tensor("a", a, [32, 64], torch.float32)
    _check_tensor("b", b, [64, 64], torch.float32)
    _check_tensor("bias", bias, [32, 64], torch.float32)
    _check_tensor("out", out, [32, 64], torch.float32)
    return _run_group_call("fused", a, b, bias, out)


def fused(a, b, bias, out):
    """Group function."""
    return _run_group_call("fused", a, b, bias, out)


def fused_aic(a, b, bias, out):
    """AIC function."""
    _check_dtype("a", a, torch.float32)
    _check_dtype("b", b, torch.float32)
    _check_dtype("bias", bias, torch.float32)
    _check_dtype("out", out, torch.float32)
    scaled = _cross_core_rt.pop_from_aiv(1)
    _check_tensor("scaled", scaled, [32, 64], torch.float32)
    left = scaled
    _check_tensor("left", left, [32, 64], torch.float32)
    b_l1 = b[0:64, 0:64].clone()
    _check_tensor("b_l1", b_l1, [64, 64], torch.float32)
    right = b_l1
    _check_tensor("right", right, [64, 64], torch.float32)
    _cross_core_rt.push_to_aiv(torch.matmul(left, right).float(), 1, copy=False)
    _cross_core_rt.tfree_to_aiv()


def fused_aiv(a, b, bias, out):
    """AIV function."""
    _check_dtype("a", a, torch.float32)
    _check_dtype("b", b, torch.float32)
    _check_dtype("bias", bias, torch.float32)
    _check_dtype("out", out, torch.float32)
    lane = _get_subblock_idx()
    row = lane * 16
    a_half = _tile_load(a, [row, 0], [16, 64])
    _check_tensor("a_half", a_half, [16, 64], torch.float32)
    _cross_core_rt.push_to_aic((a_half * 0.25), 1, copy=False)
    bias_half = _tile_load(bias, [row, 0], [16, 64])
    _check_tensor("bias_half", bias_half, [16, 64], torch.float32)
    prod = _cross_core_rt.pop_from_aic(1)
    _check_tensor("prod", prod, [16, 64], torch.float32)
    total = prod + bias_half
    _check_tensor("total", total, [16, 64], torch.float32)
    _cross_core_rt.tfree_to_aic()
    out = _tile_store(total, [row, 0], out)
    _check_tensor("out", out, [32, 64], torch.float32)
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
