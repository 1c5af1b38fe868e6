"""SwigluScope. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_load, _tile_store


def scope(
    attn__ssa_v0,
    hidden__ssa_v0,
    wo__ssa_v0,
    gamma__ssa_v0,
    w_gate__ssa_v0,
    w_up__ssa_v0,
    w_down__ssa_v0,
    out__ssa_v0,
):
    """Orchestration function.

    In: attn__ssa_v0, hidden__ssa_v0, wo__ssa_v0, gamma__ssa_v0, w_gate__ssa_v0, w_up__ssa_v0,
        w_down__ssa_v0.
    Out: out__ssa_v0.
    """
    _compare_shapes(
        {
            "attn__ssa_v0": (attn__ssa_v0.shape, [16, 256]),
            "hidden__ssa_v0": (hidden__ssa_v0.shape, [16, 256]),
            "wo__ssa_v0": (wo__ssa_v0.shape, [256, 256]),
            "gamma__ssa_v0": (gamma__ssa_v0.shape, [1, 256]),
            "w_gate__ssa_v0": (w_gate__ssa_v0.shape, [256, 512]),
            "w_up__ssa_v0": (w_up__ssa_v0.shape, [256, 512]),
            "w_down__ssa_v0": (w_down__ssa_v0.shape, [512, 256]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 256]),
        }
    )
    resid__ssa_v0 = torch.zeros([16, 256], dtype=torch.float32, device=attn__ssa_v0.device)
    resid__iter_v1 = resid__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        resid__ssa_v3 = scope_incore_0(
            attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1
        )
        resid__iter_v1 = resid__ssa_v3
    resid__rv_v2 = resid__iter_v1
    normed__ssa_v0 = torch.zeros([16, 256], dtype=torch.bfloat16, device=attn__ssa_v0.device)
    normed__ssa_v1 = scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0)  # BF16[16, 256]
    act__ssa_v0 = torch.zeros([16, 512], dtype=torch.bfloat16, device=attn__ssa_v0.device)
    act__iter_v1 = act__ssa_v0
    for n__idx_v0_1 in range(0, 512, 64):
        act__ssa_v3 = scope_incore_2(
            normed__ssa_v1, w_gate__ssa_v0, n__idx_v0_1, w_up__ssa_v0, act__iter_v1
        )
        act__iter_v1 = act__ssa_v3
    act__rv_v2 = act__iter_v1
    out__iter_v1 = out__ssa_v0
    for n__idx_v0_2 in range(0, 256, 64):
        out__ssa_v3 = scope_incore_3(
            act__rv_v2, w_down__ssa_v0, n__idx_v0_2, resid__rv_v2, out__iter_v1
        )
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def scope_incore_0(attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1):
    """InCore kernel.

    In: attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0.
    Out: resid__iter_v1.
    """
    acc__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn__ssa_v0.device)
    acc__iter_v1 = acc__tile
    for k__idx_v0 in range(0, 256, 128):
        a_k__tile = attn__ssa_v0[0:16, k__idx_v0 : k__idx_v0 + 128]  # BF16[16, 128]
        w_k__tile = wo__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile = torch.matmul(a_k__tile.float(), w_k__tile.float())  # FP32[16, 64]
        acc__tile_1 = acc__iter_v1 + t__tile  # FP32[16, 64]
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    t__tile_1 = hidden__ssa_v0[0:16, n__idx_v0 : n__idx_v0 + 64]  # BF16[16, 64]
    h_n__tile = t__tile_1.to(torch.float32)  # FP32[16, 64]
    t__tile_2 = acc__rv_v2 + h_n__tile  # FP32[16, 64]
    resid__tile = _tile_store(t__tile_2, [0, n__idx_v0], resid__iter_v1)  # FP32[16, 256]
    return resid__iter_v1


def scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0):
    """InCore kernel. In: resid__rv_v2, gamma__ssa_v0. Out: normed__ssa_v0."""
    resid__tile = _tile_load(resid__rv_v2, [0, 0], [16, 256])  # FP32[16, 256]
    gamma__tile = gamma__ssa_v0[0:1, 0:256]  # FP32[1, 256]
    t__tile = resid__tile * resid__tile  # FP32[16, 256]
    t__tile_1 = torch.sum(t__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    ms__tile = t__tile_1 * 0.00390625  # FP32[16, 1]
    t__tile_2 = ms__tile + 1e-06  # FP32[16, 1]
    inv__tile = torch.rsqrt(t__tile_2)  # FP32[16, 1]
    t__tile_3 = resid__tile * inv__tile  # FP32[16, 256]
    scaled__tile = t__tile_3 * gamma__tile  # FP32[16, 256]
    t__tile_4 = scaled__tile.to(torch.bfloat16)  # BF16[16, 256]
    normed__tile = _tile_store(t__tile_4, [0, 0], normed__ssa_v0)  # BF16[16, 256]
    return normed__ssa_v0


def scope_incore_2(normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1):
    """InCore kernel.

    In: normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0.
    Out: act__iter_v1.
    """
    gate__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    up__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    gate__iter_v1, up__iter_v1 = gate__tile, up__tile
    for k__idx_v0 in range(0, 256, 128):
        x_k__tile = _tile_load(normed__ssa_v1, [0, k__idx_v0], [16, 128])  # BF16[16, 128]
        t__tile = w_gate__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile_1 = torch.matmul(x_k__tile.float(), t__tile.float())  # FP32[16, 64]
        gate__tile_1 = gate__iter_v1 + t__tile_1  # FP32[16, 64]
        t__tile_2 = w_up__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile_3 = torch.matmul(x_k__tile.float(), t__tile_2.float())  # FP32[16, 64]
        up__tile_1 = up__iter_v1 + t__tile_3  # FP32[16, 64]
        gate__iter_v1, up__iter_v1 = gate__tile_1, up__tile_1
    gate__rv_v2, up__rv_v2 = gate__iter_v1, up__iter_v1
    t__tile_4 = -gate__rv_v2  # FP32[16, 64]
    t__tile_5 = torch.exp(t__tile_4)  # FP32[16, 64]
    t__tile_6 = t__tile_5 + 1.0  # FP32[16, 64]
    sig__tile = torch.reciprocal(t__tile_6)  # FP32[16, 64]
    t__tile_7 = gate__rv_v2 * sig__tile  # FP32[16, 64]
    m__tile = t__tile_7 * up__rv_v2  # FP32[16, 64]
    t__tile_8 = m__tile.to(torch.bfloat16)  # BF16[16, 64]
    act__tile = _tile_store(t__tile_8, [0, n__idx_v0], act__iter_v1)  # BF16[16, 512]
    return act__iter_v1


def scope_incore_3(act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1):
    """InCore kernel. In: act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2. Out: out__iter_v1."""
    down__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=act__rv_v2.device)
    down__iter_v1 = down__tile
    for k__idx_v0 in range(0, 512, 128):
        m_k__tile = _tile_load(act__rv_v2, [0, k__idx_v0], [16, 128])  # BF16[16, 128]
        t__tile = w_down__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile_1 = torch.matmul(m_k__tile.float(), t__tile.float())  # FP32[16, 64]
        down__tile_1 = down__iter_v1 + t__tile_1  # FP32[16, 64]
        down__iter_v1 = down__tile_1
    down__rv_v2 = down__iter_v1
    t__tile_2 = _tile_load(resid__rv_v2, [0, n__idx_v0], [16, 64])  # FP32[16, 64]
    y__tile = down__rv_v2 + t__tile_2  # FP32[16, 64]
    t__tile_3 = y__tile.to(torch.bfloat16)  # BF16[16, 64]
    out__tile = _tile_store(t__tile_3, [0, n__idx_v0], out__iter_v1)  # BF16[16, 256]
    return out__iter_v1


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
