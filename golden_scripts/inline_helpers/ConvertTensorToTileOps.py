"""InlineHelpers

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_store


def main(x__ssa_v0, y__ssa_v0, prod__ssa_v0, sq__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [32, 64], torch.float32)
    _check_tensor("y__ssa_v0", y__ssa_v0, [32, 64], torch.float32)
    _check_tensor("prod__ssa_v0", prod__ssa_v0, [32, 64], torch.float32)
    _check_tensor("sq__ssa_v0", sq__ssa_v0, [32, 64], torch.float32)
    prod__ssa_v1 = main_incore_0(x__ssa_v0, y__ssa_v0, prod__ssa_v0)
    _check_tensor("prod__ssa_v1", prod__ssa_v1, [32, 64], torch.float32)
    sq__ssa_v1 = main_incore_1(prod__ssa_v1, x__ssa_v0, sq__ssa_v0)
    _check_tensor("sq__ssa_v1", sq__ssa_v1, [32, 64], torch.float32)
    return prod__ssa_v1, sq__ssa_v1


def main_incore_0(x__ssa_v0, y__ssa_v0, prod__ssa_v0):
    """InCore function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("y__ssa_v0", y__ssa_v0, torch.float32)
    _check_dtype("prod__ssa_v0", prod__ssa_v0, torch.float32)
    x__tile = x__ssa_v0[0:32, 0:64]
    _check_tensor("x__tile", x__tile, [32, 64], torch.float32)
    y__tile = y__ssa_v0[0:32, 0:64]
    _check_tensor("y__tile", y__tile, [32, 64], torch.float32)
    s_inline5__tile = x__tile + y__tile
    _check_tensor("s_inline5__tile", s_inline5__tile, [32, 64], torch.float32)
    d_inline4__tile = x__tile - y__tile
    _check_tensor("d_inline4__tile", d_inline4__tile, [32, 64], torch.float32)
    s__ssa_v0 = s_inline5__tile
    _check_tensor("s__ssa_v0", s__ssa_v0, [32, 64], torch.float32)
    d__ssa_v0 = d_inline4__tile
    _check_tensor("d__ssa_v0", d__ssa_v0, [32, 64], torch.float32)
    t__tile = s__ssa_v0 * d__ssa_v0
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    prod__tile = _tile_store(t__tile, [0, 0], prod__ssa_v0)
    _check_tensor("prod__tile", prod__tile, [32, 64], torch.float32)
    return prod__ssa_v0


def main_incore_1(prod__ssa_v1, x__ssa_v0, sq__ssa_v0):
    """InCore function."""
    _check_dtype("prod__ssa_v1", prod__ssa_v1, torch.float32)
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("sq__ssa_v0", sq__ssa_v0, torch.float32)
    prod__tile = prod__ssa_v1[0:32, 0:64]
    _check_tensor("prod__tile", prod__tile, [32, 64], torch.float32)
    x__tile = x__ssa_v0[0:32, 0:64]
    _check_tensor("x__tile", x__tile, [32, 64], torch.float32)
    s_inline7__tile = prod__tile + x__tile
    _check_tensor("s_inline7__tile", s_inline7__tile, [32, 64], torch.float32)
    d_inline6__tile = prod__tile - x__tile
    _check_tensor("d_inline6__tile", d_inline6__tile, [32, 64], torch.float32)
    s2__ssa_v0 = s_inline7__tile
    _check_tensor("s2__ssa_v0", s2__ssa_v0, [32, 64], torch.float32)
    d2__ssa_v0 = d_inline6__tile
    _check_tensor("d2__ssa_v0", d2__ssa_v0, [32, 64], torch.float32)
    t__tile = s2__ssa_v0 * s2__ssa_v0
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    t__tile_1 = t__tile + d2__ssa_v0
    _check_tensor("t__tile_1", t__tile_1, [32, 64], torch.float32)
    sq__tile = _tile_store(t__tile_1, [0, 0], sq__ssa_v0)
    _check_tensor("sq__tile", sq__tile, [32, 64], torch.float32)
    return sq__ssa_v0
