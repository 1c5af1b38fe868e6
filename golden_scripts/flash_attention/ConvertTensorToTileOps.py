"""FlashAttention

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _check_dtype, _check_tensor, _tile_load, _tile_slice, _tile_store


def attention(q__ssa_v0, k__ssa_v0, v__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("q__ssa_v0", q__ssa_v0, [16, 64], torch.bfloat16)
    _check_tensor("k__ssa_v0", k__ssa_v0, [256, 64], torch.bfloat16)
    _check_tensor("v__ssa_v0", v__ssa_v0, [256, 64], torch.bfloat16)
    _check_tensor("out__ssa_v0", out__ssa_v0, [16, 64], torch.float32)
    m__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
    _check_tensor("m__ssa_v0", m__ssa_v0, [16, 1], torch.float32)
    denom__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
    _check_tensor("denom__ssa_v0", denom__ssa_v0, [16, 1], torch.float32)
    acc__ssa_v0 = torch.zeros([16, 64], dtype=torch.float32, device=q__ssa_v0.device)
    _check_tensor("acc__ssa_v0", acc__ssa_v0, [16, 64], torch.float32)
    _tuple_tmp__ssa_v0 = init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0)
    m__ssa_v1 = _tuple_tmp__ssa_v0[0]
    _check_tensor("m__ssa_v1", m__ssa_v1, [16, 1], torch.float32)
    denom__ssa_v1 = _tuple_tmp__ssa_v0[1]
    _check_tensor("denom__ssa_v1", denom__ssa_v1, [16, 1], torch.float32)
    acc__ssa_v1 = _tuple_tmp__ssa_v0[2]
    _check_tensor("acc__ssa_v1", acc__ssa_v1, [16, 64], torch.float32)
    acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v1, denom__ssa_v1, m__ssa_v1
    for s0__idx_v0 in range(0, 256, 64):
        s__ssa_v0 = torch.zeros([16, 64], dtype=torch.float32, device=q__ssa_v0.device)
        _check_tensor("s__ssa_v0", s__ssa_v0, [16, 64], torch.float32)
        s__ssa_v1 = scores(q__ssa_v0, k__ssa_v0, s0__idx_v0, s__ssa_v0)
        _check_tensor("s__ssa_v1", s__ssa_v1, [16, 64], torch.float32)
        alpha__ssa_v0 = torch.zeros([16, 1], dtype=torch.float32, device=q__ssa_v0.device)
        _check_tensor("alpha__ssa_v0", alpha__ssa_v0, [16, 1], torch.float32)
        p__ssa_v0 = torch.zeros([16, 64], dtype=torch.bfloat16, device=q__ssa_v0.device)
        _check_tensor("p__ssa_v0", p__ssa_v0, [16, 64], torch.bfloat16)
        _tuple_tmp__ssa_v0_1 = online(
            s__ssa_v1, m__iter_v2, denom__iter_v2, alpha__ssa_v0, p__ssa_v0
        )
        m__ssa_v4 = _tuple_tmp__ssa_v0_1[0]
        _check_tensor("m__ssa_v4", m__ssa_v4, [16, 1], torch.float32)
        denom__ssa_v4 = _tuple_tmp__ssa_v0_1[1]
        _check_tensor("denom__ssa_v4", denom__ssa_v4, [16, 1], torch.float32)
        alpha__ssa_v1 = _tuple_tmp__ssa_v0_1[2]
        _check_tensor("alpha__ssa_v1", alpha__ssa_v1, [16, 1], torch.float32)
        p__ssa_v1 = _tuple_tmp__ssa_v0_1[3]
        _check_tensor("p__ssa_v1", p__ssa_v1, [16, 64], torch.bfloat16)
        acc__ssa_v4 = accumulate(p__ssa_v1, v__ssa_v0, s0__idx_v0, alpha__ssa_v1, acc__iter_v2)
        _check_tensor("acc__ssa_v4", acc__ssa_v4, [16, 64], torch.float32)
        acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v4, denom__ssa_v4, m__ssa_v4
    acc__rv_v3, denom__rv_v3, m__rv_v3 = acc__iter_v2, denom__iter_v2, m__iter_v2
    out__ssa_v1 = finish(acc__rv_v3, denom__rv_v3, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [16, 64], torch.float32)
    return out__ssa_v1


def init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0):
    """InCore function."""
    _check_dtype("m__ssa_v0", m__ssa_v0, torch.float32)
    _check_dtype("denom__ssa_v0", denom__ssa_v0, torch.float32)
    _check_dtype("acc__ssa_v0", acc__ssa_v0, torch.float32)
    t__tile = torch.full([16, 1], -1e30, dtype=torch.float32, device=m__ssa_v0.device)
    _check_tensor("t__tile", t__tile, [16, 1], torch.float32)
    m__tile = _tile_store(t__tile, [0, 0], m__ssa_v0)
    _check_tensor("m__tile", m__tile, [16, 1], torch.float32)
    t__tile_1 = torch.full([16, 1], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    _check_tensor("t__tile_1", t__tile_1, [16, 1], torch.float32)
    denom__tile = _tile_store(t__tile_1, [0, 0], denom__ssa_v0)
    _check_tensor("denom__tile", denom__tile, [16, 1], torch.float32)
    t__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    _check_tensor("t__tile_2", t__tile_2, [16, 64], torch.float32)
    acc__tile = _tile_store(t__tile_2, [0, 0], acc__ssa_v0)
    _check_tensor("acc__tile", acc__tile, [16, 64], torch.float32)
    return m__tile, denom__tile, acc__tile


def scores(q__ssa_v0, k__ssa_v0, s0__ssa_v0, s__ssa_v0):
    """InCore function."""
    _check_dtype("q__ssa_v0", q__ssa_v0, torch.bfloat16)
    _check_dtype("k__ssa_v0", k__ssa_v0, torch.bfloat16)
    _check_dtype("s__ssa_v0", s__ssa_v0, torch.float32)
    k_blk__tile = _tile_slice(k__ssa_v0, [64, 64], [s0__ssa_v0, 0])
    _check_tensor("k_blk__tile", k_blk__tile, [64, 64], torch.bfloat16)
    q__ssa_v0_mat = q__ssa_v0[0:16, 0:64]
    _check_tensor("q__ssa_v0_mat", q__ssa_v0_mat, [16, 64], torch.bfloat16)
    k_blk__tile_t = k_blk__tile.mT
    _check_tensor("k_blk__tile_t", k_blk__tile_t, [64, 64], torch.bfloat16)
    t__tile = torch.matmul(q__ssa_v0_mat.float(), k_blk__tile_t.float())
    _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
    s__tile = _tile_store(t__tile, [0, 0], s__ssa_v0)
    _check_tensor("s__tile", s__tile, [16, 64], torch.float32)
    return s__tile


def online(s__ssa_v0, m__ssa_v0, denom__ssa_v0, alpha__ssa_v0, p__ssa_v0):
    """InCore function."""
    _check_dtype("s__ssa_v0", s__ssa_v0, torch.float32)
    _check_dtype("m__ssa_v0", m__ssa_v0, torch.float32)
    _check_dtype("denom__ssa_v0", denom__ssa_v0, torch.float32)
    _check_dtype("alpha__ssa_v0", alpha__ssa_v0, torch.float32)
    _check_dtype("p__ssa_v0", p__ssa_v0, torch.bfloat16)
    s__tile = _tile_load(s__ssa_v0, [0, 0], [16, 64])
    _check_tensor("s__tile", s__tile, [16, 64], torch.float32)
    scaled__tile = s__tile * 0.125
    _check_tensor("scaled__tile", scaled__tile, [16, 64], torch.float32)
    m_old__tile = _tile_load(m__ssa_v0, [0, 0], [16, 1])
    _check_tensor("m_old__tile", m_old__tile, [16, 1], torch.float32)
    tmp_tile = torch.zeros([16, 128], dtype=torch.float32, device=s__ssa_v0.device)
    _check_tensor("tmp_tile", tmp_tile, [16, 128], torch.float32)
    t__tile = torch.amax(scaled__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile", t__tile, [16, 1], torch.float32)
    m_new__tile = torch.maximum(m_old__tile, t__tile)
    _check_tensor("m_new__tile", m_new__tile, [16, 1], torch.float32)
    t__tile_1 = scaled__tile - m_new__tile
    _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
    e__tile = torch.exp(t__tile_1)
    _check_tensor("e__tile", e__tile, [16, 64], torch.float32)
    t__tile_2 = m_old__tile - m_new__tile
    _check_tensor("t__tile_2", t__tile_2, [16, 1], torch.float32)
    a__tile = torch.exp(t__tile_2)
    _check_tensor("a__tile", a__tile, [16, 1], torch.float32)
    t__tile_3 = _tile_load(denom__ssa_v0, [0, 0], [16, 1])
    _check_tensor("t__tile_3", t__tile_3, [16, 1], torch.float32)
    t__tile_4 = t__tile_3 * a__tile
    _check_tensor("t__tile_4", t__tile_4, [16, 1], torch.float32)
    tmp_tile_1 = torch.zeros([16, 128], dtype=torch.float32, device=s__ssa_v0.device)
    _check_tensor("tmp_tile_1", tmp_tile_1, [16, 128], torch.float32)
    t__tile_5 = torch.sum(e__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile_5", t__tile_5, [16, 1], torch.float32)
    d_new__tile = t__tile_4 + t__tile_5
    _check_tensor("d_new__tile", d_new__tile, [16, 1], torch.float32)
    m__tile = _tile_store(m_new__tile, [0, 0], m__ssa_v0)
    _check_tensor("m__tile", m__tile, [16, 1], torch.float32)
    denom__tile = _tile_store(d_new__tile, [0, 0], denom__ssa_v0)
    _check_tensor("denom__tile", denom__tile, [16, 1], torch.float32)
    alpha__tile = _tile_store(a__tile, [0, 0], alpha__ssa_v0)
    _check_tensor("alpha__tile", alpha__tile, [16, 1], torch.float32)
    t__tile_6 = e__tile.to(torch.bfloat16)
    _check_tensor("t__tile_6", t__tile_6, [16, 64], torch.bfloat16)
    p__tile = _tile_store(t__tile_6, [0, 0], p__ssa_v0)
    _check_tensor("p__tile", p__tile, [16, 64], torch.bfloat16)
    return m__tile, denom__tile, alpha__tile, p__tile


def accumulate(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0):
    """InCore function."""
    _check_dtype("p__ssa_v0", p__ssa_v0, torch.bfloat16)
    _check_dtype("v__ssa_v0", v__ssa_v0, torch.bfloat16)
    _check_dtype("alpha__ssa_v0", alpha__ssa_v0, torch.float32)
    _check_dtype("acc__ssa_v0", acc__ssa_v0, torch.float32)
    alpha__tile = _tile_load(alpha__ssa_v0, [0, 0], [16, 1])
    _check_tensor("alpha__tile", alpha__tile, [16, 1], torch.float32)
    v_blk__tile = _tile_slice(v__ssa_v0, [64, 64], [s0__ssa_v0, 0])
    _check_tensor("v_blk__tile", v_blk__tile, [64, 64], torch.bfloat16)
    p__ssa_v0_mat = _tile_load(p__ssa_v0, [0, 0], [16, 64])
    _check_tensor("p__ssa_v0_mat", p__ssa_v0_mat, [16, 64], torch.bfloat16)
    pv__tile = torch.matmul(p__ssa_v0_mat.float(), v_blk__tile.float())
    _check_tensor("pv__tile", pv__tile, [16, 64], torch.float32)
    old__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])
    _check_tensor("old__tile", old__tile, [16, 64], torch.float32)
    t__tile = old__tile * alpha__tile
    _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
    t__tile_1 = t__tile + pv__tile
    _check_tensor("t__tile_1", t__tile_1, [16, 64], torch.float32)
    acc__tile = _tile_store(t__tile_1, [0, 0], acc__ssa_v0)
    _check_tensor("acc__tile", acc__tile, [16, 64], torch.float32)
    return acc__tile


def finish(acc__ssa_v0, denom__ssa_v0, out__ssa_v0):
    """InCore function."""
    _check_dtype("acc__ssa_v0", acc__ssa_v0, torch.float32)
    _check_dtype("denom__ssa_v0", denom__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    acc__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])
    _check_tensor("acc__tile", acc__tile, [16, 64], torch.float32)
    denom__tile = _tile_load(denom__ssa_v0, [0, 0], [16, 1])
    _check_tensor("denom__tile", denom__tile, [16, 1], torch.float32)
    t__tile = acc__tile / denom__tile
    _check_tensor("t__tile", t__tile, [16, 64], torch.float32)
    out__tile = _tile_store(t__tile, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [16, 64], torch.float32)
    return out__tile
