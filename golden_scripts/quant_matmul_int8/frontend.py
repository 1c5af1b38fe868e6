"""QuantMatmul

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _cast_int_to_float, _cast_to_int, _check_tensor


def main(x, w, w_scale, xq, out):
    """Opaque function."""
    _check_tensor("x", x, [32, 128], torch.float32)
    _check_tensor("w", w, [128, 64], torch.int8)
    _check_tensor("w_scale", w_scale, [1, 64], torch.float32)
    _check_tensor("xq", xq, [32, 128], torch.int8)
    _check_tensor("out", out, [32, 64], torch.float32)
    scales = torch.zeros([32, 1], dtype=torch.float32, device=x.device)
    _check_tensor("scales", scales, [32, 1], torch.float32)
    amax = torch.maximum(
        torch.amax(x, dim=-1, keepdim=True), (-torch.amin(x, dim=-1, keepdim=True))
    )
    _check_tensor("amax", amax, [32, 1], torch.float32)
    scale = amax * 0.007874015748031496
    _check_tensor("scale", scale, [32, 1], torch.float32)
    scales = _assemble(scales, scale, [0, 0])
    _check_tensor("scales", scales, [32, 1], torch.float32)
    q = x / scale
    _check_tensor("q", q, [32, 128], torch.float32)
    q32 = _cast_to_int(q, torch.int32, "rint")
    _check_tensor("q32", q32, [32, 128], torch.int32)
    q16 = _cast_int_to_float(q32, torch.float16, "rint")
    _check_tensor("q16", q16, [32, 128], torch.float16)
    xq = _assemble(xq, _cast_to_int(q16, torch.int8, "trunc"), [0, 0])
    _check_tensor("xq", xq, [32, 128], torch.int8)
    acc = torch.zeros([32, 64], dtype=torch.int32, device=x.device)
    _check_tensor("acc", acc, [32, 64], torch.int32)
    acc = _assemble(acc, torch.matmul(xq.int(), w.int()), [0, 0])
    _check_tensor("acc", acc, [32, 64], torch.int32)
    f = _cast_int_to_float(acc, torch.float32, "round")
    _check_tensor("f", f, [32, 64], torch.float32)
    y = (f * scales) * w_scale
    _check_tensor("y", y, [32, 64], torch.float32)
    out = _assemble(out, y, [0, 0])
    _check_tensor("out", out, [32, 64], torch.float32)
    return xq, out
