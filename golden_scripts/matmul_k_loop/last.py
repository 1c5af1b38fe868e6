"""MatmulKLoop

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_slice, _tile_store


def main(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [64, 256], torch.bfloat16)
    _check_tensor("b__ssa_v0", b__ssa_v0, [256, 128], torch.bfloat16)
    _check_tensor("out__ssa_v0", out__ssa_v0, [64, 128], torch.float32)
    out__iter_v1 = out__ssa_v0
    for m__idx_v0 in range(0, 64, 32):
        out__iter_v3 = out__iter_v1
        for n__idx_v0 in range(0, 128, 64):
            out__ssa_v5 = main_incore_0(a__ssa_v0, m__idx_v0, b__ssa_v0, n__idx_v0, out__iter_v3)
            _check_tensor("out__ssa_v5", out__ssa_v5, [64, 128], torch.float32)
            out__iter_v3 = out__ssa_v5
        out__rv_v4 = out__iter_v3
        out__iter_v1 = out__rv_v4
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def main_incore_0(a__ssa_v0, m__idx_v0, b__ssa_v0, n__idx_v0, out__iter_v3):
    """AIC function."""
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.bfloat16)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.bfloat16)
    _check_dtype("out__iter_v3", out__iter_v3, torch.float32)
    a0__tile = _tile_slice(a__ssa_v0, [32, 64], [m__idx_v0, 0])
    _check_tensor("a0__tile", a0__tile, [32, 64], torch.bfloat16)
    b0__tile = _tile_slice(b__ssa_v0, [64, 64], [0, n__idx_v0])
    _check_tensor("b0__tile", b0__tile, [64, 64], torch.bfloat16)
    a0__tile_Left = a0__tile
    _check_tensor("a0__tile_Left", a0__tile_Left, [32, 64], torch.bfloat16)
    b0__tile_Right = b0__tile
    _check_tensor("b0__tile_Right", b0__tile_Right, [64, 64], torch.bfloat16)
    acc__tile = torch.matmul(a0__tile_Left.float(), b0__tile_Right.float())
    _check_tensor("acc__tile", acc__tile, [32, 64], torch.float32)
    acc__iter_v1 = acc__tile
    for k__idx_v0 in range(64, 256, 64):
        ak__tile = _tile_slice(a__ssa_v0, [32, 64], [m__idx_v0, k__idx_v0])
        _check_tensor("ak__tile", ak__tile, [32, 64], torch.bfloat16)
        bk__tile = _tile_slice(b__ssa_v0, [64, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("bk__tile", bk__tile, [64, 64], torch.bfloat16)
        ak__tile_Left = ak__tile
        _check_tensor("ak__tile_Left", ak__tile_Left, [32, 64], torch.bfloat16)
        bk__tile_Right = bk__tile
        _check_tensor("bk__tile_Right", bk__tile_Right, [64, 64], torch.bfloat16)
        acc__tile_1 = acc__iter_v1.add_(torch.matmul(ak__tile_Left.float(), bk__tile_Right.float()))
        _check_tensor("acc__tile_1", acc__tile_1, [32, 64], torch.float32)
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    out__tile = _tile_store(acc__rv_v2, [m__idx_v0, n__idx_v0], out__iter_v3)
    _check_tensor("out__tile", out__tile, [64, 128], torch.float32)
    return out__iter_v3
