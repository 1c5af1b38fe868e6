"""_jit_int8_mlp

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _assemble,
    _cast_int_to_float,
    _cast_to_int,
    _check_dtype,
    _check_tensor,
)


def int8_mlp(x, up, up_scale, down, down_scale, out):
    """Orchestration function."""
    _check_tensor("x", x, [32, 128], torch.float32)
    _check_tensor("up", up, [128, 256], torch.int8)
    _check_tensor("up_scale", up_scale, [1, 256], torch.float32)
    _check_tensor("down", down, [256, 128], torch.int8)
    _check_tensor("down_scale", down_scale, [1, 128], torch.float32)
    _check_tensor("out", out, [32, 128], torch.float32)
    inner = quantized_matmul(x, up, up_scale)
    _check_tensor("inner", inner, [32, 256], torch.float32)
    active = torch.zeros([32, 256], dtype=torch.float32, device=x.device)
    _check_tensor("active", active, [32, 256], torch.float32)
    active = _assemble(active, torch.clamp(inner, min=0.0), [0, 0])
    _check_tensor("active", active, [32, 256], torch.float32)
    y = quantized_matmul_1(active, down, down_scale)
    _check_tensor("y", y, [32, 128], torch.float32)
    out = _assemble(out, (x + y), [0, 0])
    _check_tensor("out", out, [32, 128], torch.float32)
    return out


def quantized_matmul(x, weight, weight_scale):
    """Inline function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("weight", weight, torch.int8)
    _check_dtype("weight_scale", weight_scale, torch.float32)
    # x times an INT8 matrix whose columns have scales, back in FP32.
    codes = torch.zeros([32, 128], dtype=torch.int8, device=x.device)
    _check_tensor("codes", codes, [32, 128], torch.int8)
    scales = torch.zeros([32, 1], dtype=torch.float32, device=x.device)
    _check_tensor("scales", scales, [32, 1], torch.float32)
    largest = torch.maximum(
        torch.amax(x, dim=-1, keepdim=True), (-torch.amin(x, dim=-1, keepdim=True))
    )
    _check_tensor("largest", largest, [32, 1], torch.float32)
    scale = torch.clamp(largest, min=1e-08) * 0.007874015748031496
    _check_tensor("scale", scale, [32, 1], torch.float32)
    whole = _cast_to_int((x / scale), torch.int32, "rint")
    _check_tensor("whole", whole, [32, 128], torch.int32)
    half = _cast_int_to_float(whole, torch.float16, "rint")
    _check_tensor("half", half, [32, 128], torch.float16)
    codes = _assemble(codes, _cast_to_int(half, torch.int8, "trunc"), [0, 0])
    _check_tensor("codes", codes, [32, 128], torch.int8)
    scales = _assemble(scales, scale, [0, 0])
    _check_tensor("scales", scales, [32, 1], torch.float32)
    out = torch.zeros([32, 256], dtype=torch.float32, device=x.device)
    _check_tensor("out", out, [32, 256], torch.float32)
    for n in range(0, 256, 128):
        product = torch.zeros([32, 128], dtype=torch.int32, device=x.device)
        _check_tensor("product", product, [32, 128], torch.int32)
        product = _assemble(
            product, torch.matmul(codes.int(), weight[0:128, n : n + 128].int()), [0, 0]
        )
        _check_tensor("product", product, [32, 128], torch.int32)
        y = _cast_int_to_float(product, torch.float32, "round") * scales
        _check_tensor("y", y, [32, 128], torch.float32)
        out = _assemble(out, (y * weight_scale[0:1, n : n + 128]), [0, n])
        _check_tensor("out", out, [32, 256], torch.float32)
    return out


def quantized_matmul_1(x, weight, weight_scale):
    """Inline function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("weight", weight, torch.int8)
    _check_dtype("weight_scale", weight_scale, torch.float32)
    # x times an INT8 matrix whose columns have scales, back in FP32.
    codes = torch.zeros([32, 256], dtype=torch.int8, device=x.device)
    _check_tensor("codes", codes, [32, 256], torch.int8)
    scales = torch.zeros([32, 1], dtype=torch.float32, device=x.device)
    _check_tensor("scales", scales, [32, 1], torch.float32)
    largest = torch.maximum(
        torch.amax(x, dim=-1, keepdim=True), (-torch.amin(x, dim=-1, keepdim=True))
    )
    _check_tensor("largest", largest, [32, 1], torch.float32)
    scale = torch.clamp(largest, min=1e-08) * 0.007874015748031496
    _check_tensor("scale", scale, [32, 1], torch.float32)
    whole = _cast_to_int((x / scale), torch.int32, "rint")
    _check_tensor("whole", whole, [32, 256], torch.int32)
    half = _cast_int_to_float(whole, torch.float16, "rint")
    _check_tensor("half", half, [32, 256], torch.float16)
    codes = _assemble(codes, _cast_to_int(half, torch.int8, "trunc"), [0, 0])
    _check_tensor("codes", codes, [32, 256], torch.int8)
    scales = _assemble(scales, scale, [0, 0])
    _check_tensor("scales", scales, [32, 1], torch.float32)
    out = torch.zeros([32, 128], dtype=torch.float32, device=x.device)
    _check_tensor("out", out, [32, 128], torch.float32)
    for n in range(0, 128, 128):
        product = torch.zeros([32, 128], dtype=torch.int32, device=x.device)
        _check_tensor("product", product, [32, 128], torch.int32)
        product = _assemble(
            product, torch.matmul(codes.int(), weight[0:256, n : n + 128].int()), [0, 0]
        )
        _check_tensor("product", product, [32, 128], torch.int32)
        y = _cast_int_to_float(product, torch.float32, "round") * scales
        _check_tensor("y", y, [32, 128], torch.float32)
        out = _assemble(out, (y * weight_scale[0:1, n : n + 128]), [0, n])
        _check_tensor("out", out, [32, 128], torch.float32)
    return out
