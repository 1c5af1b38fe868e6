"""MatmulInitCond

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _acc_init, _check_dtype, _check_tensor, _tile_store


def main(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("a__ssa_v0", a__ssa_v0, [32, 192], torch.float16)
    _check_tensor("b__ssa_v0", b__ssa_v0, [192, 64], torch.float16)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 64], torch.float32)
    out__ssa_v1 = main_incore_0(a__ssa_v0, b__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [32, 64], torch.float32)
    return out__ssa_v1


def main_incore_0(a__ssa_v0, b__ssa_v0, out__ssa_v0):
    """AIC function."""
    _check_dtype("a__ssa_v0", a__ssa_v0, torch.float16)
    _check_dtype("b__ssa_v0", b__ssa_v0, torch.float16)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    acc__tile = torch.zeros([32, 64], dtype=torch.float32, device=a__ssa_v0.device)
    _check_tensor("acc__tile", acc__tile, [32, 64], torch.float32)
    acc__iter_v1 = acc__tile
    for k__idx_v0 in range(0, 192, 64):
        ak__tile = a__ssa_v0[0:32, k__idx_v0 : k__idx_v0 + 64]
        _check_tensor("ak__tile", ak__tile, [32, 64], torch.float16)
        bk__tile = b__ssa_v0[k__idx_v0 : k__idx_v0 + 64, 0:64]
        _check_tensor("bk__tile", bk__tile, [64, 64], torch.float16)
        ak__tile_Left = ak__tile
        _check_tensor("ak__tile_Left", ak__tile_Left, [32, 64], torch.float16)
        bk__tile_Right = bk__tile
        _check_tensor("bk__tile_Right", bk__tile_Right, [64, 64], torch.float16)
        acc__tile_1 = _acc_init(
            acc__iter_v1,
            torch.matmul(ak__tile_Left.float(), bk__tile_Right.float()),
            (k__idx_v0 == 0),
        )
        _check_tensor("acc__tile_1", acc__tile_1, [32, 64], torch.float32)
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    out__tile = _tile_store(acc__rv_v2, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [32, 64], torch.float32)
    return out__ssa_v0
