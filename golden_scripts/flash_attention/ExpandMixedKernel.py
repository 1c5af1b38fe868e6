"""FlashAttention. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import (
    _compare_shapes,
    _cross_core_rt,
    _run_group_call,
    _tile_load,
    _tile_store,
    _writes_land,
)


def attention(q__ssa_v0, k__ssa_v0, v__ssa_v0, out__ssa_v0):
    """Orchestration function. In: q__ssa_v0, k__ssa_v0, v__ssa_v0. Out: out__ssa_v0."""
    _compare_shapes(
        {
            "q__ssa_v0": (q__ssa_v0.shape, [16, 64]),
            "k__ssa_v0": (k__ssa_v0.shape, [256, 64]),
            "v__ssa_v0": (v__ssa_v0.shape, [256, 64]),
            "out__ssa_v0": (out__ssa_v0.shape, [16, 64]),
        }
    )
    m__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)  # FP32[16, 1]
    denom__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
    acc__ssa_v0 = torch.zeros([16, 64], dtype=torch.float32, device=q__ssa_v0.device)
    m__ssa_v1, denom__ssa_v1, acc__ssa_v1 = init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0)
    acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v1, denom__ssa_v1, m__ssa_v1
    for s0__idx_v0 in range(0, 256, 64):
        s__ssa_v0 = torch.zeros([16, 64], dtype=torch.float32, device=q__ssa_v0.device)
        s__ssa_v1 = scores(q__ssa_v0, k__ssa_v0, s0__idx_v0, s__ssa_v0)  # FP32[16, 64]
        alpha__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
        p__ssa_v0 = torch.zeros([16, 64], dtype=torch.bfloat16, device=q__ssa_v0.device)
        m__ssa_v4, denom__ssa_v4, alpha__ssa_v1, p__ssa_v1 = online(
            s__ssa_v1, m__iter_v2, denom__iter_v2, alpha__ssa_v0, p__ssa_v0
        )
        acc__ssa_v4 = _run_group_call(
            "accumulate", p__ssa_v1, v__ssa_v0, s0__idx_v0, alpha__ssa_v1, acc__iter_v2
        )
        acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v4, denom__ssa_v4, m__ssa_v4
    acc__rv_v3, denom__rv_v3 = acc__iter_v2, denom__iter_v2
    out__ssa_v1 = finish(acc__rv_v3, denom__rv_v3, out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v1


def init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0):
    """AIV kernel (vector core). Out: m__ssa_v0, denom__ssa_v0, acc__ssa_v0."""
    t__tile = torch.full([16, 1], -1e30, dtype=torch.float32, device=m__ssa_v0.device)
    m__tile = _tile_store(t__tile, [0, 0], m__ssa_v0)  # FP32[16, 1]
    t__tile_1 = torch.full([16, 1], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    denom__tile = _tile_store(t__tile_1, [0, 0], denom__ssa_v0)  # FP32[16, 1]
    t__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    acc__tile = _tile_store(t__tile_2, [0, 0], acc__ssa_v0)  # FP32[16, 64]
    return m__tile, denom__tile, acc__tile


def scores(q__ssa_v0, k__ssa_v0, s0__ssa_v0, s__ssa_v0):
    """AIC kernel (cube core). In: q__ssa_v0, k__ssa_v0, s0__ssa_v0. Out: s__ssa_v0."""
    k_blk__tile = k__ssa_v0[s0__ssa_v0 : s0__ssa_v0 + 64, 0:64]  # BF16[64, 64]
    q__ssa_v0_mat = q__ssa_v0[0:16, 0:64]  # BF16[16, 64]
    k_blk__tile_t = k_blk__tile.mT  # BF16[64, 64]
    t__tile = torch.matmul(q__ssa_v0_mat.float(), k_blk__tile_t.float())  # FP32[16, 64]
    s__tile = _tile_store(t__tile, [0, 0], s__ssa_v0)  # FP32[16, 64]
    return s__tile


def online(s__ssa_v0, m__ssa_v0, denom__ssa_v0, alpha__ssa_v0, p__ssa_v0):
    """AIV kernel (vector core).

    In: s__ssa_v0.
    InOut: m__ssa_v0, denom__ssa_v0.
    Out: alpha__ssa_v0, p__ssa_v0.
    """
    s__tile = _tile_load(s__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    scaled__tile = s__tile * 0.125  # FP32[16, 64]
    m_old__tile = _tile_load(m__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile = torch.amax(scaled__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    m_new__rm_a0_tmp_v0 = m_old__tile.reshape([1, 16])  # FP32[1, 16]
    m_new__rm_a1_tmp_v1 = t__tile.reshape([1, 16])  # FP32[1, 16]
    m_new__row_major_tmp_v2 = torch.maximum(m_new__rm_a0_tmp_v0, m_new__rm_a1_tmp_v1)  # FP32[1, 16]
    m_new__tile = m_new__row_major_tmp_v2.reshape([16, 1])  # FP32[16, 1]
    t__tile_1 = scaled__tile - m_new__tile  # FP32[16, 64]
    e__tile = torch.exp(t__tile_1)  # FP32[16, 64]
    t__rm_a0_tmp_v3 = m_old__tile.reshape([1, 16])  # FP32[1, 16]
    t__rm_a1_tmp_v4 = m_new__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v5 = t__rm_a0_tmp_v3 - t__rm_a1_tmp_v4  # FP32[1, 16]
    t__tile_2 = t__row_major_tmp_v5.reshape([16, 1])  # FP32[16, 1]
    a__rm_a0_tmp_v6 = t__tile_2.reshape([1, 16])  # FP32[1, 16]
    a__row_major_tmp_v7 = torch.exp(a__rm_a0_tmp_v6)  # FP32[1, 16]
    a__tile = a__row_major_tmp_v7.reshape([16, 1])  # FP32[16, 1]
    t__tile_3 = _tile_load(denom__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__rm_a0_tmp_v8 = t__tile_3.reshape([1, 16])  # FP32[1, 16]
    t__rm_a1_tmp_v9 = a__tile.reshape([1, 16])  # FP32[1, 16]
    t__row_major_tmp_v10 = t__rm_a0_tmp_v8 * t__rm_a1_tmp_v9  # FP32[1, 16]
    t__tile_4 = t__row_major_tmp_v10.reshape([16, 1])  # FP32[16, 1]
    t__tile_5 = torch.sum(e__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    d_new__rm_a0_tmp_v11 = t__tile_4.reshape([1, 16])  # FP32[1, 16]
    d_new__rm_a1_tmp_v12 = t__tile_5.reshape([1, 16])  # FP32[1, 16]
    d_new__row_major_tmp_v13 = d_new__rm_a0_tmp_v11 + d_new__rm_a1_tmp_v12  # FP32[1, 16]
    d_new__tile = d_new__row_major_tmp_v13.reshape([16, 1])  # FP32[16, 1]
    m__tile = _tile_store(m_new__tile, [0, 0], m__ssa_v0)  # FP32[16, 1]
    denom__tile = _tile_store(d_new__tile, [0, 0], denom__ssa_v0)  # FP32[16, 1]
    alpha__tile = _tile_store(a__tile, [0, 0], alpha__ssa_v0)  # FP32[16, 1]
    t__tile_6 = e__tile.to(torch.bfloat16)  # BF16[16, 64]
    p__tile = _tile_store(t__tile_6, [0, 0], p__ssa_v0)  # BF16[16, 64]
    return m__tile, denom__tile, alpha__tile, p__tile


def accumulate(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0):
    """Group of kernels (cube and vector core).

    In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0.
    InOut: acc__ssa_v0.
    """
    return _run_group_call(
        "accumulate", p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0
    )


def accumulate_aic(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0):
    """AIC kernel (cube core).

    In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0.
    InOut: acc__ssa_v0.
    """
    _cross_core_rt.initialize_pipe("aic", 1, 2)
    v_blk__tile = v__ssa_v0[s0__ssa_v0 : s0__ssa_v0 + 64, 0:64]  # BF16[64, 64]
    p__ssa_v0_mat = _tile_load(p__ssa_v0, [0, 0], [16, 64])  # BF16[16, 64]
    pv__tile = torch.matmul(p__ssa_v0_mat.float(), v_blk__tile.float())  # FP32[16, 64]
    _cross_core_rt.push_to_aiv(pv__tile, 0, copy=False)


def accumulate_aiv(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0):
    """AIV kernel (vector core).

    In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0.
    InOut: acc__ssa_v0.
    """
    _cross_core_rt.initialize_pipe("aiv", 1, 2)
    alpha__tile = _tile_load(alpha__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    old__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    t__tile = old__tile * alpha__tile  # FP32[16, 64]
    pv__tile_Vec = _cross_core_rt.pop_from_aic(0)  # FP32[16, 64]
    t__tile_1 = t__tile + pv__tile_Vec  # FP32[16, 64]
    _cross_core_rt.tfree_to_aic()
    acc__tile = _tile_store(t__tile_1, [0, 0], acc__ssa_v0) if _writes_land() else acc__ssa_v0
    return acc__tile


def finish(acc__ssa_v0, denom__ssa_v0, out__ssa_v0):
    """AIV kernel (vector core). In: acc__ssa_v0, denom__ssa_v0. Out: out__ssa_v0."""
    acc__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    denom__tile = _tile_load(denom__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile = acc__tile / denom__tile  # FP32[16, 64]
    out__tile = _tile_store(t__tile, [0, 0], out__ssa_v0)  # FP32[16, 64]
    return out__tile


_GROUP_META = {
    "accumulate": {
        "aic": "accumulate_aic",
        "aiv": "accumulate_aiv",
        "split": 0,
        "dual_aiv_dispatch": True,
        "lane1_writes": False,
    },
}


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
