"""CastRounding

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _cast_to_int, _check_dtype, _check_tensor, _tile_store


def main(x__ssa_v0, rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [16, 64], torch.float32)
    _check_tensor("rint__ssa_v0", rint__ssa_v0, [16, 64], torch.int32)
    _check_tensor("round___ssa_v0", round___ssa_v0, [16, 64], torch.int32)
    _check_tensor("floor__ssa_v0", floor__ssa_v0, [16, 64], torch.int32)
    _check_tensor("ceil__ssa_v0", ceil__ssa_v0, [16, 64], torch.int32)
    _check_tensor("trunc__ssa_v0", trunc__ssa_v0, [16, 64], torch.int32)
    ret__tmp_v0 = main_incore_0(
        x__ssa_v0, rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0
    )
    rint__ssa_v1 = ret__tmp_v0[0]
    _check_tensor("rint__ssa_v1", rint__ssa_v1, [16, 64], torch.int32)
    round___ssa_v1 = ret__tmp_v0[1]
    _check_tensor("round___ssa_v1", round___ssa_v1, [16, 64], torch.int32)
    floor__ssa_v1 = ret__tmp_v0[2]
    _check_tensor("floor__ssa_v1", floor__ssa_v1, [16, 64], torch.int32)
    ceil__ssa_v1 = ret__tmp_v0[3]
    _check_tensor("ceil__ssa_v1", ceil__ssa_v1, [16, 64], torch.int32)
    trunc__ssa_v1 = ret__tmp_v0[4]
    _check_tensor("trunc__ssa_v1", trunc__ssa_v1, [16, 64], torch.int32)
    return rint__ssa_v1, round___ssa_v1, floor__ssa_v1, ceil__ssa_v1, trunc__ssa_v1


def main_incore_0(
    x__ssa_v0, rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0
):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("rint__ssa_v0", rint__ssa_v0, torch.int32)
    _check_dtype("round___ssa_v0", round___ssa_v0, torch.int32)
    _check_dtype("floor__ssa_v0", floor__ssa_v0, torch.int32)
    _check_dtype("ceil__ssa_v0", ceil__ssa_v0, torch.int32)
    _check_dtype("trunc__ssa_v0", trunc__ssa_v0, torch.int32)
    x__tile = x__ssa_v0[0:16, 0:64].clone()
    _check_tensor("x__tile", x__tile, [16, 64], torch.float32)
    t__tile = _cast_to_int(x__tile, torch.int32, "rint")
    _check_tensor("t__tile", t__tile, [16, 64], torch.int32)
    rint__tile = _tile_store(t__tile, [0, 0], rint__ssa_v0)
    _check_tensor("rint__tile", rint__tile, [16, 64], torch.int32)
    t__tile_1 = _cast_to_int(x__tile, torch.int32, "round")
    _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.int32)
    round__tile = _tile_store(t__tile_1, [0, 0], round___ssa_v0)
    _check_tensor("round__tile", round__tile, [16, 64], torch.int32)
    t__tile_2 = _cast_to_int(x__tile, torch.int32, "floor")
    _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.int32)
    floor__tile = _tile_store(t__tile_2, [0, 0], floor__ssa_v0)
    _check_tensor("floor__tile", floor__tile, [16, 64], torch.int32)
    t__tile_3 = _cast_to_int(x__tile, torch.int32, "ceil")
    _check_tensor("t__tile_3", t__tile_3, [16, 64], torch.int32)
    ceil__tile = _tile_store(t__tile_3, [0, 0], ceil__ssa_v0)
    _check_tensor("ceil__tile", ceil__tile, [16, 64], torch.int32)
    t__tile_4 = _cast_to_int(x__tile, torch.int32, "trunc")
    _check_tensor("t__tile_4", t__tile_4, [16, 64], torch.int32)
    trunc__tile = _tile_store(t__tile_4, [0, 0], trunc__ssa_v0)
    _check_tensor("trunc__tile", trunc__tile, [16, 64], torch.int32)
    return rint__ssa_v0, round___ssa_v0, floor__ssa_v0, ceil__ssa_v0, trunc__ssa_v0
