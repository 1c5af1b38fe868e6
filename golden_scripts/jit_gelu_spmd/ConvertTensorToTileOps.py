"""_jit_gelu

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _check_dtype,
    _check_tensor,
    _get_block_idx,
    _run_spmd,
    _tile_slice,
    _tile_store,
)


def gelu(x__ssa_v0, y__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [128, 192], torch.float32)
    _check_tensor("y__ssa_v0", y__ssa_v0, [128, 192], torch.float32)
    y__ssa_v1 = _run_spmd(4, gelu_rows_spmd, x__ssa_v0, y__ssa_v0)
    _check_tensor("y__ssa_v1", y__ssa_v1, [128, 192], torch.float32)
    return y__ssa_v1


def gelu_rows_spmd(x__ssa_v0, y__ssa_v0):
    """Spmd function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("y__ssa_v0", y__ssa_v0, torch.float32)
    y__ssa_v1 = gelu_rows(x__ssa_v0, y__ssa_v0)
    _check_tensor("y__ssa_v1", y__ssa_v1, [128, 192], torch.float32)
    return y__ssa_v0


def gelu_rows(x__ssa_v0, y__ssa_v0):
    """InCore function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("y__ssa_v0", y__ssa_v0, torch.float32)
    b__ssa_v0 = _get_block_idx()
    r__ssa_v0 = b__ssa_v0 * 32
    t__tile = _tile_slice(x__ssa_v0, [32, 192], [r__ssa_v0, 0])
    _check_tensor("t__tile", t__tile, [32, 192], torch.float32)
    t__tile_1 = t__tile * -1.702
    _check_tensor("t__tile_1", t__tile_1, [32, 192], torch.float32)
    t__tile_2 = torch.exp(t__tile_1)
    _check_tensor("t__tile_2", t__tile_2, [32, 192], torch.float32)
    t__tile_3 = t__tile_2 + 1.0
    _check_tensor("t__tile_3", t__tile_3, [32, 192], torch.float32)
    s__tile = torch.reciprocal(t__tile_3)
    _check_tensor("s__tile", s__tile, [32, 192], torch.float32)
    t__tile_4 = t__tile * s__tile
    _check_tensor("t__tile_4", t__tile_4, [32, 192], torch.float32)
    y__tile = _tile_store(t__tile_4, [r__ssa_v0, 0], y__ssa_v0)
    _check_tensor("y__tile", y__tile, [128, 192], torch.float32)
    return y__ssa_v0
