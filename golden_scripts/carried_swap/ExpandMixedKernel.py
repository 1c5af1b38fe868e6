"""CarriedSwap

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_store


def main(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [16, 64], torch.float32)
    _check_tensor("y__ssa_v0", y__ssa_v0, [16, 64], torch.float32)
    _check_tensor("out__ssa_v0", out__ssa_v0, [16, 64], torch.float32)
    out__ssa_v1 = kernel(x__ssa_v0, y__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [16, 64], torch.float32)
    return out__ssa_v1


def kernel(x__ssa_v0, y__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("y__ssa_v0", y__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    a0__ssa_v0 = x__ssa_v0[0:16, 0:64].clone()
    _check_tensor("a0__ssa_v0", a0__ssa_v0, [16, 64], torch.float32)
    b0__ssa_v0 = y__ssa_v0[0:16, 0:64].clone()
    _check_tensor("b0__ssa_v0", b0__ssa_v0, [16, 64], torch.float32)
    a, b = a0__ssa_v0, b0__ssa_v0
    for i__idx_v0 in range(5):
        total__ssa_v0 = a + b
        _check_tensor("total__ssa_v0", total__ssa_v0, [16, 64], torch.float32)
        a, b = b, total__ssa_v0
    a1, b1 = a, b
    t__tmp_v0 = a1 * 0.5
    _check_tensor("t__tmp_v0", t__tmp_v0, [16, 64], torch.float32)
    t__tmp_v1 = b1 - t__tmp_v0
    _check_tensor("t__tmp_v1", t__tmp_v1, [16, 64], torch.float32)
    out__ssa_v1 = _tile_store(t__tmp_v1, [0, 0], out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [16, 64], torch.float32)
    return out__ssa_v1
