"""SubmitChain. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _TASK_DONE, _compare_shapes, _tile_load, _tile_store


def main(a__ssa_v0, out__ssa_v0):
    """Orchestration function. In: a__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {"a__ssa_v0": (a__ssa_v0.shape, [32, 64]), "out__ssa_v0": (out__ssa_v0.shape, [32, 64])}
    )
    mid__ssa_v0 = torch.zeros([32, 64], dtype=torch.float32, device=a__ssa_v0.device)
    mid__ssa_v1, t0__ssa_v0 = double(a__ssa_v0, mid__ssa_v0), _TASK_DONE
    out__ssa_v1, t1__ssa_v0 = minus_one(mid__ssa_v1, out__ssa_v0), _TASK_DONE
    return out__ssa_v1


def double(a__ssa_v0, o__ssa_v0):
    """AIV kernel (vector core). In: a__ssa_v0. Out: o__ssa_v0."""
    t__ssa_v0 = a__ssa_v0[0:32, 0:64]  # FP32[32, 64]
    t__tmp_v0 = t__ssa_v0 + t__ssa_v0  # FP32[32, 64]
    o__ssa_v1 = _tile_store(t__tmp_v0, [0, 0], o__ssa_v0)  # FP32[32, 64]
    return o__ssa_v1


def minus_one(a__ssa_v0, o__ssa_v0):
    """AIV kernel (vector core). In: a__ssa_v0. Out: o__ssa_v0."""
    t__ssa_v0 = _tile_load(a__ssa_v0, [0, 0], [32, 64])  # FP32[32, 64]
    t__tmp_v0 = t__ssa_v0 - 1.0  # FP32[32, 64]
    o__ssa_v1 = _tile_store(t__tmp_v0, [0, 0], o__ssa_v0)  # FP32[32, 64]
    return o__ssa_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
