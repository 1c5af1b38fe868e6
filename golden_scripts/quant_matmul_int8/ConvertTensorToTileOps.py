"""QuantMatmul. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _cast_int_to_float,
    _cast_to_int,
    _compare_shapes,
    _tile_load,
    _tile_store,
)


def main(x__ssa_v0, w__ssa_v0, w_scale__ssa_v0, xq__ssa_v0, out__ssa_v0):
    """Orchestration function.

    In: x__ssa_v0, w__ssa_v0, w_scale__ssa_v0.
    Out: xq__ssa_v0, out__ssa_v0.
    """
    _compare_shapes(
        {
            "x__ssa_v0": (x__ssa_v0.shape, [32, 128]),
            "w__ssa_v0": (w__ssa_v0.shape, [128, 64]),
            "w_scale__ssa_v0": (w_scale__ssa_v0.shape, [1, 64]),
            "xq__ssa_v0": (xq__ssa_v0.shape, [32, 128]),
            "out__ssa_v0": (out__ssa_v0.shape, [32, 64]),
        }
    )
    scales__ssa_v0 = torch.zeros([32, 1], dtype=torch.float32, device=x__ssa_v0.device)
    scales__ssa_v1, xq__ssa_v1 = main_incore_0(x__ssa_v0, scales__ssa_v0, xq__ssa_v0)
    acc__ssa_v0 = torch.zeros([32, 64], dtype=torch.int32, device=x__ssa_v0.device)  # INT32[32, 64]
    acc__ssa_v1 = main_incore_1(xq__ssa_v1, w__ssa_v0, acc__ssa_v0)  # INT32[32, 64]
    out__ssa_v1 = main_incore_2(acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0, out__ssa_v0)
    return xq__ssa_v1, out__ssa_v1


def main_incore_0(x__ssa_v0, scales__ssa_v0, xq__ssa_v0):
    """InCore kernel. In: x__ssa_v0. Out: scales__ssa_v0, xq__ssa_v0."""
    x__tile = x__ssa_v0[0:32, 0:128].clone()  # FP32[32, 128]
    t__tile = torch.amax(x__tile, dim=-1, keepdim=True)  # FP32[32, 1]
    t__tile_1 = torch.amin(x__tile, dim=-1, keepdim=True)  # FP32[32, 1]
    t__tile_2 = -t__tile_1  # FP32[32, 1]
    amax__tile = torch.maximum(t__tile, t__tile_2)  # FP32[32, 1]
    scale__tile = amax__tile * 0.007874015748031496  # FP32[32, 1]
    scales__tile = _tile_store(scale__tile, [0, 0], scales__ssa_v0)  # FP32[32, 1]
    q__tile = x__tile / scale__tile  # FP32[32, 128]
    q32__tile = _cast_to_int(q__tile, torch.int32, "rint")  # INT32[32, 128]
    q16__tile = _cast_int_to_float(q32__tile, torch.float16, "rint")  # FP16[32, 128]
    t__tile_3 = _cast_to_int(q16__tile, torch.int8, "trunc")  # INT8[32, 128]
    xq__tile = _tile_store(t__tile_3, [0, 0], xq__ssa_v0)  # INT8[32, 128]
    return scales__ssa_v0, xq__ssa_v0


def main_incore_1(xq__ssa_v1, w__ssa_v0, acc__ssa_v0):
    """InCore kernel. In: xq__ssa_v1, w__ssa_v0. Out: acc__ssa_v0."""
    xq__ssa_v1_mat = _tile_load(xq__ssa_v1, [0, 0], [32, 128])  # INT8[32, 128]
    w__ssa_v0_mat = w__ssa_v0[0:128, 0:64]  # INT8[128, 64]
    t__tile = torch.matmul(xq__ssa_v1_mat.int(), w__ssa_v0_mat.int())  # INT32[32, 64]
    acc__tile = _tile_store(t__tile, [0, 0], acc__ssa_v0)  # INT32[32, 64]
    return acc__ssa_v0


def main_incore_2(acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0, out__ssa_v0):
    """InCore kernel. In: acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0. Out: out__ssa_v0."""
    acc__tile = _tile_load(acc__ssa_v1, [0, 0], [32, 64])  # INT32[32, 64]
    scales__tile = _tile_load(scales__ssa_v1, [0, 0], [32, 1])  # FP32[32, 1]
    w_scale__tile = w_scale__ssa_v0[0:1, 0:64]  # FP32[1, 64]
    f__tile = _cast_int_to_float(acc__tile, torch.float32, "round")  # FP32[32, 64]
    t__tile = f__tile * scales__tile  # FP32[32, 64]
    y__tile = t__tile * w_scale__tile  # FP32[32, 64]
    out__tile = _tile_store(y__tile, [0, 0], out__ssa_v0)  # FP32[32, 64]
    return out__ssa_v0


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
