"""RopeHalves

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_store


def main(x__ssa_v0, cos__ssa_v0, sin__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [32, 128], torch.float32)
    _check_tensor("cos__ssa_v0", cos__ssa_v0, [1, 64], torch.float32)
    _check_tensor("sin__ssa_v0", sin__ssa_v0, [1, 64], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 128], torch.float32)
    out__ssa_v2 = main_incore_0(x__ssa_v0, cos__ssa_v0, sin__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v2", out__ssa_v2, [32, 128], torch.float32)
    return out__ssa_v2


def main_incore_0(x__ssa_v0, cos__ssa_v0, sin__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("cos__ssa_v0", cos__ssa_v0, torch.float32)
    _check_dtype("sin__ssa_v0", sin__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    cos__tile = cos__ssa_v0[0:1, 0:64]
    _check_tensor("cos__tile", cos__tile, [1, 64], torch.float32)
    sin__tile = sin__ssa_v0[0:1, 0:64]
    _check_tensor("sin__tile", sin__tile, [1, 64], torch.float32)
    lo__tile = x__ssa_v0[0:32, 0:64]
    _check_tensor("lo__tile", lo__tile, [32, 64], torch.float32)
    hi__tile = x__ssa_v0[0:32, 64:128]
    _check_tensor("hi__tile", hi__tile, [32, 64], torch.float32)
    t__tile = lo__tile * cos__tile
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    t__tile_1 = hi__tile * sin__tile
    _check_tensor("t__tile_1", t__tile_1, [32, 64], torch.float32)
    rot_lo__tile = t__tile - t__tile_1
    _check_tensor("rot_lo__tile", rot_lo__tile, [32, 64], torch.float32)
    t__tile_2 = hi__tile * cos__tile
    _check_tensor("t__tile_2", t__tile_2, [32, 64], torch.float32)
    t__tile_3 = lo__tile * sin__tile
    _check_tensor("t__tile_3", t__tile_3, [32, 64], torch.float32)
    rot_hi__tile = t__tile_2 + t__tile_3
    _check_tensor("rot_hi__tile", rot_hi__tile, [32, 64], torch.float32)
    out__tile = _tile_store(rot_lo__tile, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [32, 128], torch.float32)
    out__tile_1 = _tile_store(rot_hi__tile, [0, 64], out__tile)
    _check_tensor("out__tile_1", out__tile_1, [32, 128], torch.float32)
    return out__ssa_v0
