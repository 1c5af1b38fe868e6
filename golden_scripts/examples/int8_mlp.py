"""_jit_int8_mlp. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _cast_int_to_float, _cast_to_int, _compare_shapes


def int8_mlp(x, up, up_scale, down, down_scale, out):
    """Orchestration function. In: x, up, up_scale, down, down_scale. Out: out."""
    _compare_shapes(
        {
            "x": (x.shape, [32, 128]),
            "up": (up.shape, [128, 256]),
            "up_scale": (up_scale.shape, [1, 256]),
            "down": (down.shape, [256, 128]),
            "down_scale": (down_scale.shape, [1, 128]),
            "out": (out.shape, [32, 128]),
        }
    )
    inner = quantized_matmul(x, up, up_scale)  # FP32[32, 256]
    active = torch.zeros([32, 256], dtype=torch.float32, device=x.device)  # FP32[32, 256]
    active = _assemble(active, torch.clamp(inner, min=0.0), [0, 0])  # FP32[32, 256]
    y = quantized_matmul_1(active, down, down_scale)  # FP32[32, 128]
    out = _assemble(out, x + y, [0, 0])  # FP32[32, 128]
    return out


def quantized_matmul(x, weight, weight_scale):
    """Inline function. In: x, weight, weight_scale."""
    # x times an INT8 matrix whose columns have scales, back in FP32.
    codes = torch.zeros([32, 128], dtype=torch.int8, device=x.device)  # INT8[32, 128]
    scales = torch.zeros([32, 1], dtype=torch.float32, device=x.device)  # FP32[32, 1]
    largest = torch.maximum(
        torch.amax(x, dim=-1, keepdim=True), -torch.amin(x, dim=-1, keepdim=True)
    )
    scale = torch.clamp(largest, min=1e-08) * 0.007874015748031496  # FP32[32, 1]
    whole = _cast_to_int(x / scale, torch.int32, "rint")  # INT32[32, 128]
    half = _cast_int_to_float(whole, torch.float16, "rint")  # FP16[32, 128]
    codes = _assemble(codes, _cast_to_int(half, torch.int8, "trunc"), [0, 0])  # INT8[32, 128]
    scales = _assemble(scales, scale, [0, 0])  # FP32[32, 1]
    out = torch.zeros([32, 256], dtype=torch.float32, device=x.device)  # FP32[32, 256]
    for n in range(0, 256, 128):
        product = torch.zeros([32, 128], dtype=torch.int32, device=x.device)  # INT32[32, 128]
        product = _assemble(
            product, torch.matmul(codes.int(), weight[0:128, n : n + 128].int()), [0, 0]
        )
        y = _cast_int_to_float(product, torch.float32, "round") * scales  # FP32[32, 128]
        out = _assemble(out, y * weight_scale[0:1, n : n + 128], [0, n])  # FP32[32, 256]
    return out


def quantized_matmul_1(x, weight, weight_scale):
    """Inline function. In: x, weight, weight_scale."""
    # x times an INT8 matrix whose columns have scales, back in FP32.
    codes = torch.zeros([32, 256], dtype=torch.int8, device=x.device)  # INT8[32, 256]
    scales = torch.zeros([32, 1], dtype=torch.float32, device=x.device)  # FP32[32, 1]
    largest = torch.maximum(
        torch.amax(x, dim=-1, keepdim=True), -torch.amin(x, dim=-1, keepdim=True)
    )
    scale = torch.clamp(largest, min=1e-08) * 0.007874015748031496  # FP32[32, 1]
    whole = _cast_to_int(x / scale, torch.int32, "rint")  # INT32[32, 256]
    half = _cast_int_to_float(whole, torch.float16, "rint")  # FP16[32, 256]
    codes = _assemble(codes, _cast_to_int(half, torch.int8, "trunc"), [0, 0])  # INT8[32, 256]
    scales = _assemble(scales, scale, [0, 0])  # FP32[32, 1]
    out = torch.zeros([32, 128], dtype=torch.float32, device=x.device)  # FP32[32, 128]
    for n in range(0, 128, 128):
        product = torch.zeros([32, 128], dtype=torch.int32, device=x.device)  # INT32[32, 128]
        product = _assemble(
            product, torch.matmul(codes.int(), weight[0:256, n : n + 128].int()), [0, 0]
        )
        y = _cast_int_to_float(product, torch.float32, "round") * scales  # FP32[32, 128]
        out = _assemble(out, y * weight_scale[0:1, n : n + 128], [0, n])  # FP32[32, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
