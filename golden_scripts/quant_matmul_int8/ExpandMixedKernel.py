"""QuantMatmul

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _cast_int_to_float,
    _cast_to_int,
    _check_dtype,
    _check_tensor,
    _tile_load,
    _tile_store,
)


def main(x__ssa_v0, w__ssa_v0, w_scale__ssa_v0, xq__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [32, 128], torch.float32)
    _check_tensor("w__ssa_v0", w__ssa_v0, [128, 64], torch.int8)
    _check_tensor("w_scale__ssa_v0", w_scale__ssa_v0, [1, 64], torch.float32)
    _check_tensor("xq__ssa_v0", xq__ssa_v0, [32, 128], torch.int8)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 64], torch.float32)
    scales__ssa_v0 = torch.zeros([32, 1], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("scales__ssa_v0", scales__ssa_v0, [32, 1], torch.float32)
    ret__tmp_v0 = main_incore_0(x__ssa_v0, scales__ssa_v0, xq__ssa_v0)
    scales__ssa_v1 = ret__tmp_v0[0]
    _check_tensor("scales__ssa_v1", scales__ssa_v1, [32, 1], torch.float32)
    xq__ssa_v1 = ret__tmp_v0[1]
    _check_tensor("xq__ssa_v1", xq__ssa_v1, [32, 128], torch.int8)
    acc__ssa_v0 = torch.zeros([32, 64], dtype=torch.int32, device=x__ssa_v0.device)
    _check_tensor("acc__ssa_v0", acc__ssa_v0, [32, 64], torch.int32)
    acc__ssa_v1 = main_incore_1(xq__ssa_v1, w__ssa_v0, acc__ssa_v0)
    _check_tensor("acc__ssa_v1", acc__ssa_v1, [32, 64], torch.int32)
    out__ssa_v1 = main_incore_2(acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [32, 64], torch.float32)
    return xq__ssa_v1, out__ssa_v1


def main_incore_0(x__ssa_v0, scales__ssa_v0, xq__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("scales__ssa_v0", scales__ssa_v0, torch.float32)
    _check_dtype("xq__ssa_v0", xq__ssa_v0, torch.int8)
    x__tile = x__ssa_v0[0:32, 0:128].clone()
    _check_tensor("x__tile", x__tile, [32, 128], torch.float32)
    tmp_tile = torch.zeros([32, 128], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile", tmp_tile, [32, 128], torch.float32)
    t__tile = torch.amax(x__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile", t__tile, [32, 1], torch.float32)
    tmp_tile_1 = torch.zeros([32, 128], dtype=torch.float32, device=x__ssa_v0.device)
    _check_tensor("tmp_tile_1", tmp_tile_1, [32, 128], torch.float32)
    t__tile_1 = torch.amin(x__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile_1", t__tile_1, [32, 1], torch.float32)
    t__tile_2 = -t__tile_1
    _check_tensor("t__tile_2", t__tile_2, [32, 1], torch.float32)
    amax__rm_a0_tmp_v0 = t__tile.reshape([1, 32])
    _check_tensor("amax__rm_a0_tmp_v0", amax__rm_a0_tmp_v0, [1, 32], torch.float32)
    amax__rm_a1_tmp_v1 = t__tile_2.reshape([1, 32])
    _check_tensor("amax__rm_a1_tmp_v1", amax__rm_a1_tmp_v1, [1, 32], torch.float32)
    amax__row_major_tmp_v2 = torch.maximum(amax__rm_a0_tmp_v0, amax__rm_a1_tmp_v1)
    _check_tensor("amax__row_major_tmp_v2", amax__row_major_tmp_v2, [1, 32], torch.float32)
    amax__tile = amax__row_major_tmp_v2.reshape([32, 1])
    _check_tensor("amax__tile", amax__tile, [32, 1], torch.float32)
    scale__rm_a0_tmp_v3 = amax__tile.reshape([1, 32])
    _check_tensor("scale__rm_a0_tmp_v3", scale__rm_a0_tmp_v3, [1, 32], torch.float32)
    scale__row_major_tmp_v4 = scale__rm_a0_tmp_v3 * 0.007874015748031496
    _check_tensor("scale__row_major_tmp_v4", scale__row_major_tmp_v4, [1, 32], torch.float32)
    scale__tile = scale__row_major_tmp_v4.reshape([32, 1])
    _check_tensor("scale__tile", scale__tile, [32, 1], torch.float32)
    scales__tile = _tile_store(scale__tile, [0, 0], scales__ssa_v0)
    _check_tensor("scales__tile", scales__tile, [32, 1], torch.float32)
    q__tile = x__tile / scale__tile
    _check_tensor("q__tile", q__tile, [32, 128], torch.float32)
    q32__tile = _cast_to_int(q__tile, torch.int32, "rint")
    _check_tensor("q32__tile", q32__tile, [32, 128], torch.int32)
    q16__tile = _cast_int_to_float(q32__tile, torch.float16, "rint")
    _check_tensor("q16__tile", q16__tile, [32, 128], torch.float16)
    t__tile_3 = _cast_to_int(q16__tile, torch.int8, "trunc")
    _check_tensor("t__tile_3", t__tile_3, [32, 128], torch.int8)
    xq__tile = _tile_store(t__tile_3, [0, 0], xq__ssa_v0)
    _check_tensor("xq__tile", xq__tile, [32, 128], torch.int8)
    return scales__ssa_v0, xq__ssa_v0


def main_incore_1(xq__ssa_v1, w__ssa_v0, acc__ssa_v0):
    """AIC function."""
    _check_dtype("xq__ssa_v1", xq__ssa_v1, torch.int8)
    _check_dtype("w__ssa_v0", w__ssa_v0, torch.int8)
    _check_dtype("acc__ssa_v0", acc__ssa_v0, torch.int32)
    xq__ssa_v1_mat = _tile_load(xq__ssa_v1, [0, 0], [32, 128])
    _check_tensor("xq__ssa_v1_mat", xq__ssa_v1_mat, [32, 128], torch.int8)
    w__ssa_v0_mat = w__ssa_v0[0:128, 0:64]
    _check_tensor("w__ssa_v0_mat", w__ssa_v0_mat, [128, 64], torch.int8)
    xq__ssa_v1_mat_Left = xq__ssa_v1_mat
    _check_tensor("xq__ssa_v1_mat_Left", xq__ssa_v1_mat_Left, [32, 128], torch.int8)
    w__ssa_v0_mat_Right = w__ssa_v0_mat
    _check_tensor("w__ssa_v0_mat_Right", w__ssa_v0_mat_Right, [128, 64], torch.int8)
    t__tile = torch.matmul(xq__ssa_v1_mat_Left.int(), w__ssa_v0_mat_Right.int())
    _check_tensor("t__tile", t__tile, [32, 64], torch.int32)
    acc__tile = _tile_store(t__tile, [0, 0], acc__ssa_v0)
    _check_tensor("acc__tile", acc__tile, [32, 64], torch.int32)
    return acc__ssa_v0


def main_incore_2(acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("acc__ssa_v1", acc__ssa_v1, torch.int32)
    _check_dtype("scales__ssa_v1", scales__ssa_v1, torch.float32)
    _check_dtype("w_scale__ssa_v0", w_scale__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    acc__tile = _tile_load(acc__ssa_v1, [0, 0], [32, 64])
    _check_tensor("acc__tile", acc__tile, [32, 64], torch.int32)
    scales__tile = _tile_load(scales__ssa_v1, [0, 0], [32, 1])
    _check_tensor("scales__tile", scales__tile, [32, 1], torch.float32)
    w_scale__tile = w_scale__ssa_v0[0:1, 0:64]
    _check_tensor("w_scale__tile", w_scale__tile, [1, 64], torch.float32)
    f__tile = _cast_int_to_float(acc__tile, torch.float32, "round")
    _check_tensor("f__tile", f__tile, [32, 64], torch.float32)
    t__tile = f__tile * scales__tile
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    y__tile = t__tile * w_scale__tile
    _check_tensor("y__tile", y__tile, [32, 64], torch.float32)
    out__tile = _tile_store(y__tile, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [32, 64], torch.float32)
    return out__ssa_v0
