"""IntegerBits

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_store


def main(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [16, 64], torch.int32)
    _check_tensor("y__ssa_v0", y__ssa_v0, [16, 64], torch.int32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [16, 64], torch.int32)
    out__ssa_v1 = main_incore_0(x__ssa_v0, y__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [16, 64], torch.int32)
    return out__ssa_v1


def main_incore_0(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """InCore function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.int32)
    _check_dtype("y__ssa_v0", y__ssa_v0, torch.int32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.int32)
    x__tile = x__ssa_v0[0:16, 0:64]
    _check_tensor("x__tile", x__tile, [16, 64], torch.int32)
    y__tile = y__ssa_v0[0:16, 0:64]
    _check_tensor("y__tile", y__tile, [16, 64], torch.int32)
    lo__tile = x__tile & 255
    _check_tensor("lo__tile", lo__tile, [16, 64], torch.int32)
    hi__tile = x__tile >> 3
    _check_tensor("hi__tile", hi__tile, [16, 64], torch.int32)
    t__tile = lo__tile | y__tile
    _check_tensor("t__tile", t__tile, [16, 64], torch.int32)
    xor_tmp = torch.zeros([16, 64], dtype=torch.int32, device=x__ssa_v0.device)
    _check_tensor("xor_tmp", xor_tmp, [16, 64], torch.int32)
    mix__tile = t__tile ^ hi__tile
    _check_tensor("mix__tile", mix__tile, [16, 64], torch.int32)
    t__tile_1 = lo__tile * 3
    _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.int32)
    t__tile_2 = mix__tile + t__tile_1
    _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.int32)
    out__tile = _tile_store(t__tile_2, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [16, 64], torch.int32)
    return out__ssa_v0
