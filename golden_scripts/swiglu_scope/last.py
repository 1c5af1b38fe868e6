"""SwigluScope

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import (
    _check_dtype,
    _check_tensor,
    _cross_core_rt,
    _get_subblock_idx,
    _run_group_call,
    _tile_load,
    _tile_slice,
    _tile_store,
)


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
        gm_pipe_buffer_0 = torch.zeros([1], dtype=torch.float32, device=attn__ssa_v0.device)
        _check_tensor("gm_pipe_buffer_0", gm_pipe_buffer_0, [1], torch.float32)
        resid__ssa_v3 = _run_group_call(
            "scope_incore_0",
            attn__ssa_v0,
            wo__ssa_v0,
            n__idx_v0,
            hidden__ssa_v0,
            resid__iter_v1,
            gm_pipe_buffer_0,
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
        gm_pipe_buffer_1 = torch.zeros([1], dtype=torch.float32, device=attn__ssa_v0.device)
        _check_tensor("gm_pipe_buffer_1", gm_pipe_buffer_1, [1], torch.float32)
        act__ssa_v3 = _run_group_call(
            "scope_incore_2",
            normed__ssa_v1,
            w_gate__ssa_v0,
            n__idx_v0_1,
            w_up__ssa_v0,
            act__iter_v1,
            gm_pipe_buffer_1,
        )
        _check_tensor("act__ssa_v3", act__ssa_v3, [16, 512], torch.bfloat16)
        act__iter_v1 = act__ssa_v3
    act__rv_v2 = act__iter_v1
    out__iter_v1 = out__ssa_v0
    for n__idx_v0_2 in range(0, 256, 64):
        gm_pipe_buffer_2 = torch.zeros([1], dtype=torch.float32, device=attn__ssa_v0.device)
        _check_tensor("gm_pipe_buffer_2", gm_pipe_buffer_2, [1], torch.float32)
        out__ssa_v3 = _run_group_call(
            "scope_incore_3",
            act__rv_v2,
            w_down__ssa_v0,
            n__idx_v0_2,
            resid__rv_v2,
            out__iter_v1,
            gm_pipe_buffer_2,
        )
        _check_tensor("out__ssa_v3", out__ssa_v3, [16, 256], torch.bfloat16)
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def scope_incore_0(
    attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1, __gm_pipe_buffer
):
    """Group function."""
    return _run_group_call(
        "scope_incore_0",
        attn__ssa_v0,
        wo__ssa_v0,
        n__idx_v0,
        hidden__ssa_v0,
        resid__iter_v1,
        __gm_pipe_buffer,
    )


def scope_incore_0_aic(
    attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1, __gm_pipe_buffer
):
    """AIC function."""
    _check_dtype("attn__ssa_v0", attn__ssa_v0, torch.bfloat16)
    _check_dtype("wo__ssa_v0", wo__ssa_v0, torch.bfloat16)
    _check_dtype("hidden__ssa_v0", hidden__ssa_v0, torch.bfloat16)
    _check_dtype("resid__iter_v1", resid__iter_v1, torch.float32)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    for k__idx_v0 in range(0, 256, 128):
        a_k__tile = attn__ssa_v0[0:16, k__idx_v0 : k__idx_v0 + 128]
        _check_tensor("a_k__tile", a_k__tile, [16, 128], torch.bfloat16)
        w_k__tile = _tile_slice(wo__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("w_k__tile", w_k__tile, [128, 64], torch.bfloat16)
        a_k__tile_Left = a_k__tile
        _check_tensor("a_k__tile_Left", a_k__tile_Left, [16, 128], torch.bfloat16)
        w_k__tile_Right = w_k__tile
        _check_tensor("w_k__tile_Right", w_k__tile_Right, [128, 64], torch.bfloat16)
        t__tile = torch.matmul(a_k__tile_Left.float(), w_k__tile_Right.float())
        _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
        _cross_core_rt.push_to_aiv(t__tile, 0, copy=False)


def scope_incore_0_aiv(
    attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1, __gm_pipe_buffer
):
    """AIV function."""
    _check_dtype("attn__ssa_v0", attn__ssa_v0, torch.bfloat16)
    _check_dtype("wo__ssa_v0", wo__ssa_v0, torch.bfloat16)
    _check_dtype("hidden__ssa_v0", hidden__ssa_v0, torch.bfloat16)
    _check_dtype("resid__iter_v1", resid__iter_v1, torch.float32)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    if subblock_idx == 0:
        acc__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn__ssa_v0.device)
        _check_tensor("acc__tile", acc__tile, [16, 64], torch.float32)
        acc__iter_v1 = acc__tile
        for k__idx_v0 in range(0, 256, 128):
            t__tile_Vec = _cross_core_rt.pop_from_aic(0)
            _check_tensor("t__tile_Vec", t__tile_Vec, [16, 64], torch.float32)
            acc__tile_1 = acc__iter_v1 + t__tile_Vec
            _check_tensor("acc__tile_1", acc__tile_1, [16, 64], torch.float32)
            _cross_core_rt.tfree_to_aic(split=0)
            acc__iter_v1 = acc__tile_1
        acc__rv_v2 = acc__iter_v1
        t__tile = _tile_slice(hidden__ssa_v0, [16, 64], [0, n__idx_v0])
        _check_tensor("t__tile", t__tile, [16, 64], torch.bfloat16)
        h_n__tile = t__tile.to(torch.float32)
        _check_tensor("h_n__tile", h_n__tile, [16, 64], torch.float32)
        t__tile_1 = acc__rv_v2 + h_n__tile
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
        resid__tile = _tile_store(t__tile_1, [0, n__idx_v0], resid__iter_v1)
        _check_tensor("resid__tile", resid__tile, [16, 256], torch.float32)
        return resid__iter_v1
    else:
        acc__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn__ssa_v0.device)
        _check_tensor("acc__tile_2", acc__tile_2, [16, 64], torch.float32)
        acc__iter_v1_1 = acc__tile_2
        for k__idx_v0_1 in range(0, 256, 128):
            t__tile_Vec_1 = _cross_core_rt.pop_from_aic(0)
            _check_tensor("t__tile_Vec_1", t__tile_Vec_1, [16, 64], torch.float32)
            acc__tile_3 = acc__iter_v1_1 + t__tile_Vec_1
            _check_tensor("acc__tile_3", acc__tile_3, [16, 64], torch.float32)
            _cross_core_rt.tfree_to_aic(split=0)
            acc__iter_v1_1 = acc__tile_3
        acc__rv_v2_1 = acc__iter_v1_1
        t__tile_2 = torch.zeros([16, 64], dtype=torch.bfloat16, device=attn__ssa_v0.device)
        _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.bfloat16)
        h_n__tile_1 = t__tile_2.to(torch.float32)
        _check_tensor("h_n__tile_1", h_n__tile_1, [16, 64], torch.float32)
        t__tile_3 = acc__rv_v2_1 + h_n__tile_1
        _check_tensor("t__tile_3", t__tile_3, [16, 64], torch.float32)
        resid__tile_1 = resid__iter_v1
        _check_tensor("resid__tile_1", resid__tile_1, [16, 256], torch.float32)
        return resid__iter_v1


def scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0):
    """AIV function."""
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
    ms__rm_a0_tmp_v0 = t__tile_1.reshape([1, 16])
    _check_tensor("ms__rm_a0_tmp_v0", ms__rm_a0_tmp_v0, [1, 16], torch.float32)
    ms__row_major_tmp_v1 = ms__rm_a0_tmp_v0 * 0.00390625
    _check_tensor("ms__row_major_tmp_v1", ms__row_major_tmp_v1, [1, 16], torch.float32)
    ms__tile = ms__row_major_tmp_v1.reshape([16, 1])
    _check_tensor("ms__tile", ms__tile, [16, 1], torch.float32)
    t__rm_a0_tmp_v2 = ms__tile.reshape([1, 16])
    _check_tensor("t__rm_a0_tmp_v2", t__rm_a0_tmp_v2, [1, 16], torch.float32)
    t__row_major_tmp_v3 = t__rm_a0_tmp_v2 + 1e-06
    _check_tensor("t__row_major_tmp_v3", t__row_major_tmp_v3, [1, 16], torch.float32)
    t__tile_2 = t__row_major_tmp_v3.reshape([16, 1])
    _check_tensor("t__tile_2", t__tile_2, [16, 1], torch.float32)
    inv__rm_a0_tmp_v4 = t__tile_2.reshape([1, 16])
    _check_tensor("inv__rm_a0_tmp_v4", inv__rm_a0_tmp_v4, [1, 16], torch.float32)
    inv__row_major_tmp_v5 = torch.rsqrt(inv__rm_a0_tmp_v4)
    _check_tensor("inv__row_major_tmp_v5", inv__row_major_tmp_v5, [1, 16], torch.float32)
    inv__tile = inv__row_major_tmp_v5.reshape([16, 1])
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


def scope_incore_2(
    normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1, __gm_pipe_buffer
):
    """Group function."""
    return _run_group_call(
        "scope_incore_2",
        normed__ssa_v1,
        w_gate__ssa_v0,
        n__idx_v0,
        w_up__ssa_v0,
        act__iter_v1,
        __gm_pipe_buffer,
    )


def scope_incore_2_aic(
    normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1, __gm_pipe_buffer
):
    """AIC function."""
    _check_dtype("normed__ssa_v1", normed__ssa_v1, torch.bfloat16)
    _check_dtype("w_gate__ssa_v0", w_gate__ssa_v0, torch.bfloat16)
    _check_dtype("w_up__ssa_v0", w_up__ssa_v0, torch.bfloat16)
    _check_dtype("act__iter_v1", act__iter_v1, torch.bfloat16)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    for k__idx_v0 in range(0, 256, 128):
        x_k__tile = _tile_load(normed__ssa_v1, [0, k__idx_v0], [16, 128])
        _check_tensor("x_k__tile", x_k__tile, [16, 128], torch.bfloat16)
        t__tile = _tile_slice(w_gate__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("t__tile", t__tile, [128, 64], torch.bfloat16)
        x_k__tile_Left = x_k__tile
        _check_tensor("x_k__tile_Left", x_k__tile_Left, [16, 128], torch.bfloat16)
        t__tile_Right = t__tile
        _check_tensor("t__tile_Right", t__tile_Right, [128, 64], torch.bfloat16)
        t__tile_1 = torch.matmul(x_k__tile_Left.float(), t__tile_Right.float())
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
        _cross_core_rt.push_to_aiv(t__tile_1, 1, copy=False)
        t__tile_2 = _tile_slice(w_up__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("t__tile_2", t__tile_2, [128, 64], torch.bfloat16)
        t__tile_Right_1 = t__tile_2
        _check_tensor("t__tile_Right_1", t__tile_Right_1, [128, 64], torch.bfloat16)
        t__tile_3 = torch.matmul(x_k__tile_Left.float(), t__tile_Right_1.float())
        _check_tensor("t__tile_3", t__tile_3, [16, 64], torch.float32)
        _cross_core_rt.push_to_aiv(t__tile_3, 1, copy=False)


def scope_incore_2_aiv(
    normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1, __gm_pipe_buffer
):
    """AIV function."""
    _check_dtype("normed__ssa_v1", normed__ssa_v1, torch.bfloat16)
    _check_dtype("w_gate__ssa_v0", w_gate__ssa_v0, torch.bfloat16)
    _check_dtype("w_up__ssa_v0", w_up__ssa_v0, torch.bfloat16)
    _check_dtype("act__iter_v1", act__iter_v1, torch.bfloat16)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    gate__tile = torch.full([8, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    _check_tensor("gate__tile", gate__tile, [8, 64], torch.float32)
    up__tile = torch.full([8, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    _check_tensor("up__tile", up__tile, [8, 64], torch.float32)
    gate__iter_v1, up__iter_v1 = gate__tile, up__tile
    for k__idx_v0 in range(0, 256, 128):
        t__tile_Vec = _cross_core_rt.pop_from_aic(1)
        _check_tensor("t__tile_Vec", t__tile_Vec, [8, 64], torch.float32)
        gate__tile_1 = gate__iter_v1 + t__tile_Vec
        _check_tensor("gate__tile_1", gate__tile_1, [8, 64], torch.float32)
        _cross_core_rt.tfree_to_aic(split=1)
        t__tile_Vec_1 = _cross_core_rt.pop_from_aic(1)
        _check_tensor("t__tile_Vec_1", t__tile_Vec_1, [8, 64], torch.float32)
        up__tile_1 = up__iter_v1 + t__tile_Vec_1
        _check_tensor("up__tile_1", up__tile_1, [8, 64], torch.float32)
        _cross_core_rt.tfree_to_aic(split=1)
        gate__iter_v1, up__iter_v1 = gate__tile_1, up__tile_1
    gate__rv_v2, up__rv_v2 = gate__iter_v1, up__iter_v1
    t__tile = -gate__rv_v2
    _check_tensor("t__tile", t__tile, [8, 64], torch.float32)
    t__tile_1 = torch.exp(t__tile)
    _check_tensor("t__tile_1", t__tile_1, [8, 64], torch.float32)
    t__tile_2 = t__tile_1 + 1.0
    _check_tensor("t__tile_2", t__tile_2, [8, 64], torch.float32)
    sig__tile = torch.reciprocal(t__tile_2)
    _check_tensor("sig__tile", sig__tile, [8, 64], torch.float32)
    t__tile_3 = gate__rv_v2 * sig__tile
    _check_tensor("t__tile_3", t__tile_3, [8, 64], torch.float32)
    m__tile = t__tile_3 * up__rv_v2
    _check_tensor("m__tile", m__tile, [8, 64], torch.float32)
    t__tile_4 = m__tile.to(torch.bfloat16)
    _check_tensor("t__tile_4", t__tile_4, [8, 64], torch.bfloat16)
    act__tile = _tile_store(t__tile_4, [subblock_idx * 8, n__idx_v0], act__iter_v1)
    _check_tensor("act__tile", act__tile, [16, 512], torch.bfloat16)
    return act__iter_v1


def scope_incore_3(
    act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1, __gm_pipe_buffer
):
    """Group function."""
    return _run_group_call(
        "scope_incore_3",
        act__rv_v2,
        w_down__ssa_v0,
        n__idx_v0,
        resid__rv_v2,
        out__iter_v1,
        __gm_pipe_buffer,
    )


def scope_incore_3_aic(
    act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1, __gm_pipe_buffer
):
    """AIC function."""
    _check_dtype("act__rv_v2", act__rv_v2, torch.bfloat16)
    _check_dtype("w_down__ssa_v0", w_down__ssa_v0, torch.bfloat16)
    _check_dtype("resid__rv_v2", resid__rv_v2, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.bfloat16)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    for k__idx_v0 in range(0, 512, 128):
        m_k__tile = _tile_load(act__rv_v2, [0, k__idx_v0], [16, 128])
        _check_tensor("m_k__tile", m_k__tile, [16, 128], torch.bfloat16)
        t__tile = _tile_slice(w_down__ssa_v0, [128, 64], [k__idx_v0, n__idx_v0])
        _check_tensor("t__tile", t__tile, [128, 64], torch.bfloat16)
        m_k__tile_Left = m_k__tile
        _check_tensor("m_k__tile_Left", m_k__tile_Left, [16, 128], torch.bfloat16)
        t__tile_Right = t__tile
        _check_tensor("t__tile_Right", t__tile_Right, [128, 64], torch.bfloat16)
        t__tile_1 = torch.matmul(m_k__tile_Left.float(), t__tile_Right.float())
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
        _cross_core_rt.push_to_aiv(t__tile_1, 0, copy=False)


def scope_incore_3_aiv(
    act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1, __gm_pipe_buffer
):
    """AIV function."""
    _check_dtype("act__rv_v2", act__rv_v2, torch.bfloat16)
    _check_dtype("w_down__ssa_v0", w_down__ssa_v0, torch.bfloat16)
    _check_dtype("resid__rv_v2", resid__rv_v2, torch.float32)
    _check_dtype("out__iter_v1", out__iter_v1, torch.bfloat16)
    _check_dtype("__gm_pipe_buffer", __gm_pipe_buffer, torch.float32)
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    if subblock_idx == 0:
        down__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=act__rv_v2.device)
        _check_tensor("down__tile", down__tile, [16, 64], torch.float32)
        down__iter_v1 = down__tile
        for k__idx_v0 in range(0, 512, 128):
            t__tile_Vec = _cross_core_rt.pop_from_aic(0)
            _check_tensor("t__tile_Vec", t__tile_Vec, [16, 64], torch.float32)
            down__tile_1 = down__iter_v1 + t__tile_Vec
            _check_tensor("down__tile_1", down__tile_1, [16, 64], torch.float32)
            _cross_core_rt.tfree_to_aic(split=0)
            down__iter_v1 = down__tile_1
        down__rv_v2 = down__iter_v1
        t__tile = _tile_load(resid__rv_v2, [0, n__idx_v0], [16, 64])
        _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
        y__tile = down__rv_v2 + t__tile
        _check_tensor("y__tile", y__tile, [16, 64], torch.float32)
        t__tile_1 = y__tile.to(torch.bfloat16)
        _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.bfloat16)
        out__tile = _tile_store(t__tile_1, [0, n__idx_v0], out__iter_v1)
        _check_tensor("out__tile", out__tile, [16, 256], torch.bfloat16)
        return out__iter_v1
    else:
        down__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=act__rv_v2.device)
        _check_tensor("down__tile_2", down__tile_2, [16, 64], torch.float32)
        down__iter_v1_1 = down__tile_2
        for k__idx_v0_1 in range(0, 512, 128):
            t__tile_Vec_1 = _cross_core_rt.pop_from_aic(0)
            _check_tensor("t__tile_Vec_1", t__tile_Vec_1, [16, 64], torch.float32)
            down__tile_3 = down__iter_v1_1 + t__tile_Vec_1
            _check_tensor("down__tile_3", down__tile_3, [16, 64], torch.float32)
            _cross_core_rt.tfree_to_aic(split=0)
            down__iter_v1_1 = down__tile_3
        down__rv_v2_1 = down__iter_v1_1
        t__tile_2 = torch.zeros([16, 64], dtype=torch.float32, device=act__rv_v2.device)
        _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.float32)
        y__tile_1 = down__rv_v2_1 + t__tile_2
        _check_tensor("y__tile_1", y__tile_1, [16, 64], torch.float32)
        t__tile_3 = y__tile_1.to(torch.bfloat16)
        _check_tensor("t__tile_3", t__tile_3, [16, 64], torch.bfloat16)
        out__tile_1 = out__iter_v1
        _check_tensor("out__tile_1", out__tile_1, [16, 256], torch.bfloat16)
        return out__iter_v1


_GROUP_META = {
    "scope_incore_0": {
        "aic": "scope_incore_0_aic",
        "aiv": "scope_incore_0_aiv",
        "split": 0,
        "dual_aiv_dispatch": True,
        "lane1_writes": True,
    },
    "scope_incore_2": {
        "aic": "scope_incore_2_aic",
        "aiv": "scope_incore_2_aiv",
        "split": 1,
        "dual_aiv_dispatch": False,
        "lane1_writes": True,
    },
    "scope_incore_3": {
        "aic": "scope_incore_3_aic",
        "aiv": "scope_incore_3_aiv",
        "split": 0,
        "dual_aiv_dispatch": True,
        "lane1_writes": True,
    },
}
