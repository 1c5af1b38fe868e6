"""SwigluScope. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _compare_shapes,
    _cross_core_rt,
    _get_subblock_idx,
    _run_group_call,
    _tile_load,
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
        gm_pipe_buffer_0 = torch.zeros([1], dtype=torch.float32, device=attn__ssa_v0.device)
        resid__ssa_v3 = _run_group_call(
            "scope_incore_0",
            attn__ssa_v0,
            wo__ssa_v0,
            n__idx_v0,
            hidden__ssa_v0,
            resid__iter_v1,
            gm_pipe_buffer_0,
        )
        resid__iter_v1 = resid__ssa_v3
    resid__rv_v2 = resid__iter_v1
    normed__ssa_v0 = torch.zeros([16, 256], dtype=torch.bfloat16, device=attn__ssa_v0.device)
    normed__ssa_v1 = scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0)  # BF16[16, 256]
    act__ssa_v0 = torch.zeros([16, 512], dtype=torch.bfloat16, device=attn__ssa_v0.device)
    act__iter_v1 = act__ssa_v0
    for n__idx_v0_1 in range(0, 512, 64):
        gm_pipe_buffer_1 = torch.zeros([1], dtype=torch.float32, device=attn__ssa_v0.device)
        act__ssa_v3 = _run_group_call(
            "scope_incore_2",
            normed__ssa_v1,
            w_gate__ssa_v0,
            n__idx_v0_1,
            w_up__ssa_v0,
            act__iter_v1,
            gm_pipe_buffer_1,
        )
        act__iter_v1 = act__ssa_v3
    act__rv_v2 = act__iter_v1
    out__iter_v1 = out__ssa_v0
    for n__idx_v0_2 in range(0, 256, 64):
        gm_pipe_buffer_2 = torch.zeros([1], dtype=torch.float32, device=attn__ssa_v0.device)
        out__ssa_v3 = _run_group_call(
            "scope_incore_3",
            act__rv_v2,
            w_down__ssa_v0,
            n__idx_v0_2,
            resid__rv_v2,
            out__iter_v1,
            gm_pipe_buffer_2,
        )
        out__iter_v1 = out__ssa_v3
    out__rv_v2 = out__iter_v1
    return out__rv_v2


def scope_incore_0(
    attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1, __gm_pipe_buffer
):
    """Group of kernels (cube and vector core).

    In: attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0.
    Out: resid__iter_v1, __gm_pipe_buffer.
    """
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
    """AIC kernel (cube core).

    In: attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0.
    Out: resid__iter_v1, __gm_pipe_buffer.
    """
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    for k__idx_v0 in range(0, 256, 128):
        a_k__tile = attn__ssa_v0[0:16, k__idx_v0 : k__idx_v0 + 128]  # BF16[16, 128]
        w_k__tile = wo__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile = torch.matmul(a_k__tile.float(), w_k__tile.float())  # FP32[16, 64]
        _cross_core_rt.push_to_aiv(t__tile, 0, copy=False)


def scope_incore_0_aiv(
    attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0, resid__iter_v1, __gm_pipe_buffer
):
    """AIV kernel (vector core).

    In: attn__ssa_v0, wo__ssa_v0, n__idx_v0, hidden__ssa_v0.
    Out: resid__iter_v1, __gm_pipe_buffer.
    """
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    if subblock_idx == 0:
        acc__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn__ssa_v0.device)
        acc__iter_v1 = acc__tile
        for k__idx_v0 in range(0, 256, 128):
            t__tile_Vec = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64]
            acc__tile_1 = acc__iter_v1 + t__tile_Vec  # FP32[16, 64]
            _cross_core_rt.tfree_to_aic(split=0)
            acc__iter_v1 = acc__tile_1
        acc__rv_v2 = acc__iter_v1
        t__tile = hidden__ssa_v0[0:16, n__idx_v0 : n__idx_v0 + 64]  # BF16[16, 64]
        h_n__tile = t__tile.to(torch.float32)  # FP32[16, 64]
        t__tile_1 = acc__rv_v2 + h_n__tile  # FP32[16, 64]
        resid__tile = _tile_store(t__tile_1, [0, n__idx_v0], resid__iter_v1)  # FP32[16, 256]
        return resid__iter_v1
    else:
        acc__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn__ssa_v0.device)
        acc__iter_v1_1 = acc__tile_2
        for k__idx_v0_1 in range(0, 256, 128):
            t__tile_Vec_1 = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64] valid [0, 0]
            acc__tile_3 = acc__iter_v1_1 + t__tile_Vec_1  # FP32[16, 64] valid [0, 0]
            _cross_core_rt.tfree_to_aic(split=0)
            acc__iter_v1_1 = acc__tile_3
        acc__rv_v2_1 = acc__iter_v1_1
        t__tile_2 = torch.zeros([16, 64], dtype=torch.bfloat16, device=attn__ssa_v0.device)
        h_n__tile_1 = t__tile_2.to(torch.float32)  # FP32[16, 64] valid [0, 0]
        t__tile_3 = acc__rv_v2_1 + h_n__tile_1  # FP32[16, 64] valid [0, 0]
        resid__tile_1 = resid__iter_v1  # FP32[16, 256]
        return resid__iter_v1


def scope_incore_1(resid__rv_v2, gamma__ssa_v0, normed__ssa_v0):
    """AIV kernel (vector core). In: resid__rv_v2, gamma__ssa_v0. Out: normed__ssa_v0."""
    resid__tile = _tile_load(resid__rv_v2, [0, 0], [16, 256])  # FP32[16, 256]
    gamma__tile = gamma__ssa_v0[0:1, 0:256]  # FP32[1, 256]
    t__tile = resid__tile * resid__tile  # FP32[16, 256]
    t__tile_1 = torch.sum(t__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    ms__rm_a0_tmp_v0 = t__tile_1.reshape([1, 16])  # FP32[1, 16]
    ms__row_major_tmp_v1 = ms__rm_a0_tmp_v0 * 0.00390625  # FP32[1, 16]
    ms__tile = ms__row_major_tmp_v1.reshape([16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v2 = ms__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v3 = t__rm_a0_tmp_v2 + 1e-06  # FP32[1, 16]
    t__tile_2 = t__row_major_tmp_v3.reshape([16, 1])  # FP32[16, 1]
    inv__rm_a0_tmp_v4 = t__tile_2.reshape([1, 16])  # FP32[1, 16]
    inv__row_major_tmp_v5 = torch.rsqrt(inv__rm_a0_tmp_v4)  # FP32[1, 16]
    inv__tile = inv__row_major_tmp_v5.reshape([16, 1])  # FP32[16, 1]
    t__tile_3 = resid__tile * inv__tile  # FP32[16, 256]
    scaled__tile = t__tile_3 * gamma__tile  # FP32[16, 256]
    t__tile_4 = scaled__tile.to(torch.bfloat16)  # BF16[16, 256]
    normed__tile = _tile_store(t__tile_4, [0, 0], normed__ssa_v0)  # BF16[16, 256]
    return normed__ssa_v0


def scope_incore_2(
    normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1, __gm_pipe_buffer
):
    """Group of kernels (cube and vector core).

    In: normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0.
    Out: act__iter_v1, __gm_pipe_buffer.
    """
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
    """AIC kernel (cube core).

    In: normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0.
    Out: act__iter_v1, __gm_pipe_buffer.
    """
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    for k__idx_v0 in range(0, 256, 128):
        x_k__tile = _tile_load(normed__ssa_v1, [0, k__idx_v0], [16, 128])  # BF16[16, 128]
        t__tile = w_gate__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile_1 = torch.matmul(x_k__tile.float(), t__tile.float())  # FP32[16, 64]
        _cross_core_rt.push_to_aiv(t__tile_1, 1, copy=False)
        t__tile_2 = w_up__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile_3 = torch.matmul(x_k__tile.float(), t__tile_2.float())  # FP32[16, 64]
        _cross_core_rt.push_to_aiv(t__tile_3, 1, copy=False)


def scope_incore_2_aiv(
    normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0, act__iter_v1, __gm_pipe_buffer
):
    """AIV kernel (vector core).

    In: normed__ssa_v1, w_gate__ssa_v0, n__idx_v0, w_up__ssa_v0.
    Out: act__iter_v1, __gm_pipe_buffer.
    """
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    gate__tile = torch.full([8, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    up__tile = torch.full([8, 64], 0.0, dtype=torch.float32, device=normed__ssa_v1.device)
    gate__iter_v1, up__iter_v1 = gate__tile, up__tile
    for k__idx_v0 in range(0, 256, 128):
        t__tile_Vec = _cross_core_rt.pop_from_aic(1)  # FP32[8, 64]
        gate__tile_1 = gate__iter_v1 + t__tile_Vec  # FP32[8, 64]
        _cross_core_rt.tfree_to_aic(split=1)
        t__tile_Vec_1 = _cross_core_rt.pop_from_aic(1)  # FP32[8, 64]
        up__tile_1 = up__iter_v1 + t__tile_Vec_1  # FP32[8, 64]
        _cross_core_rt.tfree_to_aic(split=1)
        gate__iter_v1, up__iter_v1 = gate__tile_1, up__tile_1
    gate__rv_v2, up__rv_v2 = gate__iter_v1, up__iter_v1
    t__tile = -gate__rv_v2  # FP32[8, 64]
    t__tile_1 = torch.exp(t__tile)  # FP32[8, 64]
    t__tile_2 = t__tile_1 + 1.0  # FP32[8, 64]
    sig__tile = torch.reciprocal(t__tile_2)  # FP32[8, 64]
    t__tile_3 = gate__rv_v2 * sig__tile  # FP32[8, 64]
    m__tile = t__tile_3 * up__rv_v2  # FP32[8, 64]
    t__tile_4 = m__tile.to(torch.bfloat16)  # BF16[8, 64]
    act__tile = _tile_store(t__tile_4, [subblock_idx * 8, n__idx_v0], act__iter_v1)  # BF16[16, 512]
    return act__iter_v1


def scope_incore_3(
    act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1, __gm_pipe_buffer
):
    """Group of kernels (cube and vector core).

    In: act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2.
    Out: out__iter_v1, __gm_pipe_buffer.
    """
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
    """AIC kernel (cube core).

    In: act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2.
    Out: out__iter_v1, __gm_pipe_buffer.
    """
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    for k__idx_v0 in range(0, 512, 128):
        m_k__tile = _tile_load(act__rv_v2, [0, k__idx_v0], [16, 128])  # BF16[16, 128]
        t__tile = w_down__ssa_v0[k__idx_v0 : k__idx_v0 + 128, n__idx_v0 : n__idx_v0 + 64]
        t__tile_1 = torch.matmul(m_k__tile.float(), t__tile.float())  # FP32[16, 64]
        _cross_core_rt.push_to_aiv(t__tile_1, 0, copy=False)


def scope_incore_3_aiv(
    act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2, out__iter_v1, __gm_pipe_buffer
):
    """AIV kernel (vector core).

    In: act__rv_v2, w_down__ssa_v0, n__idx_v0, resid__rv_v2.
    Out: out__iter_v1, __gm_pipe_buffer.
    """
    subblock_idx = _get_subblock_idx()
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    if subblock_idx == 0:
        down__tile = torch.full([16, 64], 0.0, dtype=torch.float32, device=act__rv_v2.device)
        down__iter_v1 = down__tile
        for k__idx_v0 in range(0, 512, 128):
            t__tile_Vec = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64]
            down__tile_1 = down__iter_v1 + t__tile_Vec  # FP32[16, 64]
            _cross_core_rt.tfree_to_aic(split=0)
            down__iter_v1 = down__tile_1
        down__rv_v2 = down__iter_v1
        t__tile = _tile_load(resid__rv_v2, [0, n__idx_v0], [16, 64])  # FP32[16, 64]
        y__tile = down__rv_v2 + t__tile  # FP32[16, 64]
        t__tile_1 = y__tile.to(torch.bfloat16)  # BF16[16, 64]
        out__tile = _tile_store(t__tile_1, [0, n__idx_v0], out__iter_v1)  # BF16[16, 256]
        return out__iter_v1
    else:
        down__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=act__rv_v2.device)
        down__iter_v1_1 = down__tile_2
        for k__idx_v0_1 in range(0, 512, 128):
            t__tile_Vec_1 = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64] valid [0, 0]
            down__tile_3 = down__iter_v1_1 + t__tile_Vec_1  # FP32[16, 64] valid [0, 0]
            _cross_core_rt.tfree_to_aic(split=0)
            down__iter_v1_1 = down__tile_3
        down__rv_v2_1 = down__iter_v1_1
        t__tile_2 = torch.zeros([16, 64], dtype=torch.float32, device=act__rv_v2.device)
        y__tile_1 = down__rv_v2_1 + t__tile_2  # FP32[16, 64] valid [0, 0]
        t__tile_3 = y__tile_1.to(torch.bfloat16)  # BF16[16, 64] valid [0, 0]
        out__tile_1 = out__iter_v1  # BF16[16, 256]
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


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
