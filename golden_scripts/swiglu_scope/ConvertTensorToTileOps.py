"""SwigluScope

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_load, _tile_slice, _tile_store


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
    """Orchestration function."""
    _check_tensor("attn__ssa_v0", attn__ssa_v0, [16, 256], torch.bfloat16)
    _check_tensor("hidden__ssa_v0", hidden__ssa_v0, [16, 256], torch.bfloat16)
    _check_tensor("wo__ssa_v0", wo__ssa_v0, [256, 256], torch.bfloat16)
    _check_tensor("gamma__ssa_v0", gamma__ssa_v0, [1, 256], torch.float32)
    _check_tensor("w_gate__ssa_v0", w_gate__ssa_v0, [256, 512], torch.bfloat16)
    _check_tensor("w_up__ssa_v0", w_up__ssa_v0, [256, 512], torch.bfloat16)
    _check_tensor("w_down__ssa_v0", w_down__ssa_v0, [512, 256], torch.bfloat16)
    _check_tensor("out__ssa_v0", out__ssa_v0, [16, 256], torch.bfloat16)
    resid__ssa_v0 = torch.zeros([16, 256], dtype=torch.float32, device=attn__ssa_v0.device)
    _check_tensor("resid__ssa_v0", resid__ssa_v0, [16, 256], torch.float32)
    resid__iter_v1 = resid__ssa_v0
    for n__idx_v0 in range(0, 256, 64):
        resid__ssa_v3 = scope_incore_0(
            attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1
        )
        _check_tensor("resid__ssa_v3", resid__ssa_v3, [16, 256], torch.float32)
        resid__iter_v1 = resid__ssa_v3
    resid__rv_v2 = resid__iter_v1
    normed__ssa_v0 = torch.zeros([16, 256], dtype=torch.bfloat16, device=attn__ssa_v0.device)
    _check_tensor("normed__ssa_v0", normed__ssa_v0, [16, 256], torch.bfloat16)
    normed__ssa_v1 = scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0)
    _check_tensor("normed__ssa_v1", normed__ssa_v1, [16, 256], torch.bfloat16)
    act__ssa_v0 = torch.zeros([16, 512], dtype=torch.bfloat16, device=attn__ssa_v0.device)
    _check_tensor("act__ssa_v0", act__ssa_v0, [16, 512], torch.bfloat16)
    act__iter_v1 = act__ssa_v0
    for n__idx_v0_1 in range(0, 512, 64):
        act__ssa_v3 = scope_incore_2(
            normed__ssa_v1, w_gate__ssa_v0, n__idx_v0_1, w_up__ssa_v0, act__iter_v1
        )
        _check_tensor("act__ssa_v3", act__ssa_v3, [16, 512], torch.bfloat16)
        act__iter_v1 = act__ssa_v3
    act__rv_v2 = act__iter_v1
    out__iter_v1 = out__ssa_v0
    for n__idx_v0_2 in range(0, 256, 64):
        out__ssa_v3 = scope_incore_3(
            act__rv_v2, w_down__ssa_v0, n__idx_v0_2, resid__rv_v2, out__iter_v1
        )
        _check_tensor("out__ssa_v3", out__ssa_v3, [16, 256], torch.bfloat16)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def scope_incore_0(attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1):
    """InCore function."""
    _check_dtype("attn__ssa_v0", attn__ssa_v0, torch.bfloat16)
    _check_dtype("wo__ssa_v0", wo__ssa_v0, torch.bfloat16)
    _check_dtype("hidden__ssa_v0", hidden__ssa_v0, torch.bfloat16)
    _check_dtype("resid__iter_v1", resid__iter_v1, torch.float32)
    acc__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn__ssa_v0.device)
    _check_tensor("acc__tile", acc__tile, [16, 64], torch.float32)
    acc__iter_v1 = acc__tile
    for k__idx_v0 in range(0, 256, 128):
        a_k__tile = attn__ssa_v0[0:16, k__idx_v0 : k__idx_v0 + 128]
        _check_tensor("a_k__tile", a_k__tile, [16, 128], torch.bfloat16)
        w_k__tile = _tile_slice(wo__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("w_k__tile", w_k__tile, [128, 64], torch.bfloat16)
        t__tile = torch.matmul(a_k__tile.float(), w_k__tile.float())
        _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
        acc__tile_1 = acc__iter_v1 + t__tile
        _check_tensor("acc__tile_1", acc__tile_1, [16, 64], torch.float32)
        acc__iter_v1 = acc__tile_1
    acc__rv_v2 = acc__iter_v1
    t__tile_1 = _tile_slice(hidden__ssa_v0, [16, 64], [0, n__idx_v0])
    _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.bfloat16)
    h_n__tile = t__tile_1.to(torch.float32)
    _check_tensor("h_n__tile", h_n__tile, [16, 64], torch.float32)
    t__tile_2 = acc__rv_v2 + h_n__tile
    _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.float32)
    resid__tile = _tile_store(t__tile_2, [0, n__idx_v0], resid__iter_v1)
    _check_tensor("resid__tile", resid__tile, [16, 256], torch.float32)
    return resid__iter_v1


def scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0):
    """InCore function."""
    _check_dtype("resid__rv_v2", resid__rv_v2, torch.float32)
    _check_dtype("gamma__ssa_v0", gamma__ssa_v0, torch.float32)
    _check_dtype("normed__ssa_v0", normed__ssa_v0, torch.bfloat16)
    resid__tile = _tile_load(resid__rv_v2, [0, 0], [16, 256])
    _check_tensor("resid__tile", resid__tile, [16, 256], torch.float32)
    gamma__tile = gamma__ssa_v0[0:1, 0:256]
    _check_tensor("gamma__tile", gamma__tile, [1, 256], torch.float32)
    t__tile = resid__tile * resid__tile
    _check_tensor("t__tile", t__tile, [16, 256], torch.float32)
    tmp_tile = torch.zeros([16, 256], dtype=torch.float32, device=resid__rv_v2.device)
    _check_tensor("tmp_tile", tmp_tile, [16, 256], torch.float32)
    t__tile_1 = torch.sum(t__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile_1", t__tile_1, [16, 1], torch.float32)
    ms__tile = t__tile_1 * 0.00390625
    _check_tensor("ms__tile", ms__tile, [16, 1], torch.float32)
    t__tile_2 = ms__tile + 1e-06
    _check_tensor("t__tile_2", t__tile_2, [16, 1], torch.float32)
    inv__tile = torch.rsqrt(t__tile_2)
    _check_tensor("inv__tile", inv__tile, [16, 1], torch.float32)
    t__tile_3 = resid__tile * inv__tile
    _check_tensor("t__tile_3", t__tile_3, [16, 256], torch.float32)
    scaled__tile = t__tile_3 * gamma__tile
    _check_tensor("scaled__tile", scaled__tile, [16, 256], torch.float32)
    t__tile_4 = scaled__tile.to(torch.bfloat16)
    _check_tensor("t__tile_4", t__tile_4, [16, 256], torch.bfloat16)
    normed__tile = _tile_store(t__tile_4, [0, 0], normed__ssa_v0)
    _check_tensor("normed__tile", normed__tile, [16, 256], torch.bfloat16)
    return normed__ssa_v0


def scope_incore_2(normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1):
    """InCore function."""
    _check_dtype("normed__ssa_v1", normed__ssa_v1, torch.bfloat16)
    _check_dtype("w_gate__ssa_v0", w_gate__ssa_v0, torch.bfloat16)
    _check_dtype("w_up__ssa_v0", w_up__ssa_v0, torch.bfloat16)
    _check_dtype("act__iter_v1", act__iter_v1, torch.bfloat16)
    gate__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    _check_tensor("gate__tile", gate__tile, [16, 64], torch.float32)
    up__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    _check_tensor("up__tile", up__tile, [16, 64], torch.float32)
    gate__iter_v1, up__iter_v1 = gate__tile, up__tile
    for k__idx_v0 in range(0, 256, 128):
        x_k__tile = _tile_load(normed__ssa_v1, [0, k__idx_v0], [16, 128])
        _check_tensor("x_k__tile", x_k__tile, [16, 128], torch.bfloat16)
        t__tile = _tile_slice(w_gate__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("t__tile", t__tile, [128, 64], torch.bfloat16)
        t__tile_1 = torch.matmul(x_k__tile.float(), t__tile.float())
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
        gate__tile_1 = gate__iter_v1 + t__tile_1
        _check_tensor("gate__tile_1", gate__tile_1, [16, 64], torch.float32)
        t__tile_2 = _tile_slice(w_up__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("t__tile_2", t__tile_2, [128, 64], torch.bfloat16)
        t__tile_3 = torch.matmul(x_k__tile.float(), t__tile_2.float())
        _check_tensor("t__tile_3", t__tile_3, [16, 64], torch.float32)
        up__tile_1 = up__iter_v1 + t__tile_3
        _check_tensor("up__tile_1", up__tile_1, [16, 64], torch.float32)
        gate__iter_v1, up__iter_v1 = gate__tile_1, up__tile_1
    gate__rv_v2, up__rv_v2 = gate__iter_v1, up__iter_v1
    t__tile_4 = -gate__rv_v2
    _check_tensor("t__tile_4", t__tile_4, [16, 64], torch.float32)
    t__tile_5 = torch.exp(t__tile_4)
    _check_tensor("t__tile_5", t__tile_5, [16, 64], torch.float32)
    t__tile_6 = t__tile_5 + 1.0
    _check_tensor("t__tile_6", t__tile_6, [16, 64], torch.float32)
    sig__tile = torch.reciprocal(t__tile_6)
    _check_tensor("sig__tile", sig__tile, [16, 64], torch.float32)
    t__tile_7 = gate__rv_v2 * sig__tile
    _check_tensor("t__tile_7", t__tile_7, [16, 64], torch.float32)
    m__tile = t__tile_7 * up__rv_v2
    _check_tensor("m__tile", m__tile, [16, 64], torch.float32)
    t__tile_8 = m__tile.to(torch.bfloat16)
    _check_tensor("t__tile_8", t__tile_8, [16, 64], torch.bfloat16)
    act__tile = _tile_store(t__tile_8, [0, n__idx_v0], act__iter_v1)
    _check_tensor("act__tile", act__tile, [16, 512], torch.bfloat16)
    return act__iter_v1


def scope_incore_3(act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1):
    """InCore function."""
    _check_dtype("act__rv_v2", act__rv_v2, torch.bfloat16)
    _check_dtype("w_down__ssa_v0", w_down__ssa_v0, torch.bfloat16)
    _check_dtype("resid__rv_v2", resid__rv_v2, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.bfloat16)
    down__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=act__rv_v2.device)
    _check_tensor("down__tile", down__tile, [16, 64], torch.float32)
    down__iter_v1 = down__tile
    for k__idx_v0 in range(0, 512, 128):
        m_k__tile = _tile_load(act__rv_v2, [0, k__idx_v0], [16, 128])
        _check_tensor("m_k__tile", m_k__tile, [16, 128], torch.bfloat16)
        t__tile = _tile_slice(w_down__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("t__tile", t__tile, [128, 64], torch.bfloat16)
        t__tile_1 = torch.matmul(m_k__tile.float(), t__tile.float())
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
        down__tile_1 = down__iter_v1 + t__tile_1
        _check_tensor("down__tile_1", down__tile_1, [16, 64], torch.float32)
        down__iter_v1 = down__tile_1
    down__rv_v2 = down__iter_v1
    t__tile_2 = _tile_load(resid__rv_v2, [0, n__idx_v0], [16, 64])
    _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.float32)
    y__tile = down__rv_v2 + t__tile_2
    _check_tensor("y__tile", y__tile, [16, 64], torch.float32)
    t__tile_3 = y__tile.to(torch.bfloat16)
    _check_tensor("t__tile_3", t__tile_3, [16, 64], torch.bfloat16)
    out__tile = _tile_store(t__tile_3, [0, n__idx_v0], out__iter_v1)
    _check_tensor("out__tile", out__tile, [16, 256], torch.bfloat16)
    return out__iter_v1
