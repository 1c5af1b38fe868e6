"""RopeHalves. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, cos__ssa_v0, sin__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, cos__ssa_v0, sin__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [32, 128]),
            "cos__ssa_v0": (cos__ssa_v0.shape, [1, 64]),
            "sin__ssa_v0": (sin__ssa_v0.shape, [1, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 128]),
        }
    )
    out__ssa_v2 = main_incore_0(x__ssa_v0, cos__ssa_v0, sin__ssa_v0, out__ssa_v0)  # FP32[32, 128]
    return out__ssa_v2


def main_incore_0(x__ssa_v0, cos__ssa_v0, sin__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, cos__ssa_v0, sin__ssa_v0. Out: out__ssa_v0."""
    cos__tile = cos__ssa_v0[0:1, 0:64]  # FP32[1, 64]
    sin__tile = sin__ssa_v0[0:1, 0:64]  # FP32[1, 64]
    lo__tile = x__ssa_v0[0:32, 0:64]  # FP32[32, 64]
    hi__tile = x__ssa_v0[0:32, 64:128]  # FP32[32, 64]
    t__tile = lo__tile * cos__tile  # FP32[32, 64]
    t__tile_1 = hi__tile * sin__tile  # FP32[32, 64]
    rot_lo__tile = t__tile - t__tile_1  # FP32[32, 64]
    t__tile_2 = hi__tile * cos__tile  # FP32[32, 64]
    t__tile_3 = lo__tile * sin__tile  # FP32[32, 64]
    rot_hi__tile = t__tile_2 + t__tile_3  # FP32[32, 64]
    out__tile = _tile_store(rot_lo__tile, [0, 0], out__ssa_v0)  # FP32[32, 128]
    out__tile_1 = _tile_store(rot_hi__tile, [0, 64], out__tile)  # FP32[32, 128]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
