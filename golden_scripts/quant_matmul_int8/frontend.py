"""QuantMatmul. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _cast_int_to_float, _cast_to_int, _compare_shapes


def main(x, w, w_scale, xq, out):
    """Opaque function. In: x, w, w_scale. Out: xq, out."""
    _compare_shapes(
        {
            "x": (x.shape, [32, 128]),
            "w": (w.shape, [128, 64]),
            "w_scale": (w_scale.shape, [1, 64]),
            "xq": (xq.shape, [32, 128]),
            "out": (out.shape, [32, 64]),
        }
    )
    scales = torch.zeros([32, 1], dtype=torch.float32, device=x.device)  # FP32[32, 1]
    amax = torch.maximum(torch.amax(x, dim=-1, keepdim=True), -torch.amin(x, dim=-1, keepdim=True))
    scale = amax * 0.007874015748031496  # FP32[32, 1]
    scales = _assemble(scales, scale, [0, 0])  # FP32[32, 1]
    q = x / scale  # FP32[32, 128]
    q32 = _cast_to_int(q, torch.int32, "rint")  # INT32[32, 128]
    q16 = _cast_int_to_float(q32, torch.float16, "rint")  # FP16[32, 128]
    xq = _assemble(xq, _cast_to_int(q16, torch.int8, "trunc"), [0, 0])  # INT8[32, 128]
    acc = torch.zeros([32, 64], dtype=torch.int32, device=x.device)  # INT32[32, 64]
    acc = _assemble(acc, torch.matmul(xq.int(), w.int()), [0, 0])  # INT32[32, 64]
    f = _cast_int_to_float(acc, torch.float32, "round")  # FP32[32, 64]
    y = f * scales * w_scale  # FP32[32, 64]
    out = _assemble(out, y, [0, 0])  # FP32[32, 64]
    return xq, out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
