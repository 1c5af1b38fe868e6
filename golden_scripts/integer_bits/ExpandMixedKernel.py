"""IntegerBits. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_store


def main(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """Orchestration function. In: x__ssa_v0, y__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [16, 64]),
            "y__ssa_v0": (y__ssa_v0.shape, [16, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 64]),
        }
    )
    out__ssa_v1 = main_incore_0(x__ssa_v0, y__ssa_v0, out__ssa_v0)  # INT32[16, 64]
    return out__ssa_v1


def main_incore_0(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: x__ssa_v0, y__ssa_v0. Out: out__ssa_v0."""
    x__tile = x__ssa_v0[0:16, 0:64]  # INT32[16, 64]
    y__tile = y__ssa_v0[0:16, 0:64]  # INT32[16, 64]
    lo__tile = x__tile & 255  # INT32[16, 64]
    hi__tile = x__tile >> 3  # INT32[16, 64]
    t__tile = lo__tile | y__tile  # INT32[16, 64]
    mix__tile = t__tile ^ hi__tile  # INT32[16, 64]
    t__tile_1 = lo__tile * 3  # INT32[16, 64]
    t__tile_2 = mix__tile + t__tile_1  # INT32[16, 64]
    out__tile = _tile_store(t__tile_2, [0, 0], out__ssa_v0)  # INT32[16, 64]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
