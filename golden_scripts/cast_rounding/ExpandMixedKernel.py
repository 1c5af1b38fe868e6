"""CastRounding. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _cast_to_int, _compare_shapes, _tile_store


def main(x__ssa_v0, rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0):
    """Orchestration function.

    In: x__ssa_v0.
    Out: rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0.
    """
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [16, 64]),
            "rint__ssa_v0": (rint__ssa_v0.shape, [16, 64]),
            "round___ssa_v0": (round___ssa_v0.shape, [16, 64]),
            "floor__ssa_v0": (floor__ssa_v0.shape, [16, 64]),
            "ceil__ssa_v0": (ceil__ssa_v0.shape, [16, 64]),
            "trunc__ssa_v0": (trunc__ssa_v0.shape, [16, 64]),
        }
    )
    rint__ssa_v1, round___ssa_v1, floor__ssa_v1, ceil__ssa_v1, trunc__ssa_v1 = main_incore_0(
        x__ssa_v0, rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0
    )
    return rint__ssa_v1, round___ssa_v1, floor__ssa_v1, ceil__ssa_v1, trunc__ssa_v1


def main_incore_0(
    x__ssa_v0, rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0
):
    """AIV kernel (vector core).

    In: x__ssa_v0.
    Out: rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0.
    """
    x__tile = x__ssa_v0[0:16, 0:64].clone()  # FP32[16, 64]
    t__tile = _cast_to_int(x__tile, torch.int32, "rint")  # INT32[16, 64]
    rint__tile = _tile_store(t__tile, [0, 0], rint__ssa_v0)  # INT32[16, 64]
    t__tile_1 = _cast_to_int(x__tile, torch.int32, "round")  # INT32[16, 64]
    round__tile = _tile_store(t__tile_1, [0, 0], round___ssa_v0)  # INT32[16, 64]
    t__tile_2 = _cast_to_int(x__tile, torch.int32, "floor")  # INT32[16, 64]
    floor__tile = _tile_store(t__tile_2, [0, 0], floor__ssa_v0)  # INT32[16, 64]
    t__tile_3 = _cast_to_int(x__tile, torch.int32, "ceil")  # INT32[16, 64]
    ceil__tile = _tile_store(t__tile_3, [0, 0], ceil__ssa_v0)  # INT32[16, 64]
    t__tile_4 = _cast_to_int(x__tile, torch.int32, "trunc")  # INT32[16, 64]
    trunc__tile = _tile_store(t__tile_4, [0, 0], trunc__ssa_v0)  # INT32[16, 64]
    return rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
