"""_jit_gelu. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _get_block_idx, _run_spmd, _tile_slice, _tile_store


def gelu(x__ssa_v0, y__ssa_v0):
    """Orchestration function. In: x__ssa_v0. Out: y__ssa_v0."""
    _compare_shapes(
        {"x__ssa_v0": (x__ssa_v0.shape, [128, 192]), "y__ssa_v0": (y__ssa_v0.shape, [128, 192])}
    )
    y__ssa_v1 = _run_spmd(4, gelu_rows_spmd, x__ssa_v0, y__ssa_v0)  # FP32[128, 192]
    return y__ssa_v1


def gelu_rows_spmd(x__ssa_v0, y__ssa_v0):
    """Spmd function. In: x__ssa_v0. Out: y__ssa_v0."""
    y__ssa_v1 = gelu_rows(x__ssa_v0, y__ssa_v0)  # FP32[128, 192]
    return y__ssa_v0


def gelu_rows(x__ssa_v0, y__ssa_v0):
    """InCore kernel. In: x__ssa_v0. Out: y__ssa_v0."""
    b__ssa_v0 = _get_block_idx()
    r__ssa_v0 = b__ssa_v0 * 32
    t__tile = _tile_slice(x__ssa_v0, [32, 192], [r__ssa_v0, 0])  # FP32[32, 192]
    t__tile_1 = t__tile * -1.702  # FP32[32, 192]
    t__tile_2 = torch.exp(t__tile_1)  # FP32[32, 192]
    t__tile_3 = t__tile_2 + 1.0  # FP32[32, 192]
    s__tile = torch.reciprocal(t__tile_3)  # FP32[32, 192]
    t__tile_4 = t__tile * s__tile  # FP32[32, 192]
    y__tile = _tile_store(t__tile_4, [r__ssa_v0, 0], y__ssa_v0)  # FP32[128, 192]
    return y__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
