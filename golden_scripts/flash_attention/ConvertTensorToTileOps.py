"""FlashAttention. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _compare_shapes, _tile_load, _tile_store


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
        acc__ssa_v4 = accumulate(p__ssa_v1, v__ssa_v0, s0__idx_v0, alpha__ssa_v1, acc__iter_v2)
        acc__iter_v2, denom__iter_v2, m__iter_v2 = acc__ssa_v4, denom__ssa_v4, m__ssa_v4
    acc__rv_v3, denom__rv_v3 = acc__iter_v2, denom__iter_v2
    out__ssa_v1 = finish(acc__rv_v3, denom__rv_v3, out__ssa_v0)  # FP32[16, 64]
    return out__ssa_v1


def init(m__ssa_v0, denom__ssa_v0, acc__ssa_v0):
    """InCore kernel. Out: m__ssa_v0, denom__ssa_v0, acc__ssa_v0."""
    t__tile = torch.full([16, 1], -1e30, dtype=torch.float32, device=m__ssa_v0.device)
    m__tile = _tile_store(t__tile, [0, 0], m__ssa_v0)  # FP32[16, 1]
    t__tile_1 = torch.full([16, 1], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    denom__tile = _tile_store(t__tile_1, [0, 0], denom__ssa_v0)  # FP32[16, 1]
    t__tile_2 = torch.full([16, 64], 0.0, dtype=torch.float32, device=m__ssa_v0.device)
    acc__tile = _tile_store(t__tile_2, [0, 0], acc__ssa_v0)  # FP32[16, 64]
    return m__tile, denom__tile, acc__tile


def scores(q__ssa_v0, k__ssa_v0, s0__ssa_v0, s__ssa_v0):
    """InCore kernel. In: q__ssa_v0, k__ssa_v0, s0__ssa_v0. Out: s__ssa_v0."""
    k_blk__tile = k__ssa_v0[s0__ssa_v0 : s0__ssa_v0 + 64, 0:64]  # BF16[64, 64]
    q__ssa_v0_mat = q__ssa_v0[0:16, 0:64]  # BF16[16, 64]
    k_blk__tile_t = k_blk__tile.mT  # BF16[64, 64]
    t__tile = torch.matmul(q__ssa_v0_mat.float(), k_blk__tile_t.float())  # FP32[16, 64]
    s__tile = _tile_store(t__tile, [0, 0], s__ssa_v0)  # FP32[16, 64]
    return s__tile


def online(s__ssa_v0, m__ssa_v0, denom__ssa_v0, alpha__ssa_v0, p__ssa_v0):
    """InCore kernel.

    In: s__ssa_v0.
    InOut: m__ssa_v0, denom__ssa_v0.
    Out: alpha__ssa_v0, p__ssa_v0.
    """
    s__tile = _tile_load(s__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    scaled__tile = s__tile * 0.125  # FP32[16, 64]
    m_old__tile = _tile_load(m__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile = torch.amax(scaled__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    m_new__tile = torch.maximum(m_old__tile, t__tile)  # FP32[16, 1]
    t__tile_1 = scaled__tile - m_new__tile  # FP32[16, 64]
    e__tile = torch.exp(t__tile_1)  # FP32[16, 64]
    t__tile_2 = m_old__tile - m_new__tile  # FP32[16, 1]
    a__tile = torch.exp(t__tile_2)  # FP32[16, 1]
    t__tile_3 = _tile_load(denom__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile_4 = t__tile_3 * a__tile  # FP32[16, 1]
    t__tile_5 = torch.sum(e__tile, dim=-1, keepdim=True)  # FP32[16, 1]
    d_new__tile = t__tile_4 + t__tile_5  # FP32[16, 1]
    m__tile = _tile_store(m_new__tile, [0, 0], m__ssa_v0)  # FP32[16, 1]
    denom__tile = _tile_store(d_new__tile, [0, 0], denom__ssa_v0)  # FP32[16, 1]
    alpha__tile = _tile_store(a__tile, [0, 0], alpha__ssa_v0)  # FP32[16, 1]
    t__tile_6 = e__tile.to(torch.bfloat16)  # BF16[16, 64]
    p__tile = _tile_store(t__tile_6, [0, 0], p__ssa_v0)  # BF16[16, 64]
    return m__tile, denom__tile, alpha__tile, p__tile


def accumulate(p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0, acc__ssa_v0):
    """InCore kernel. In: p__ssa_v0, v__ssa_v0, s0__ssa_v0, alpha__ssa_v0. InOut: acc__ssa_v0."""
    alpha__tile = _tile_load(alpha__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    v_blk__tile = v__ssa_v0[s0__ssa_v0 : s0__ssa_v0 + 64, 0:64]  # BF16[64, 64]
    p__ssa_v0_mat = _tile_load(p__ssa_v0, [0, 0], [16, 64])  # BF16[16, 64]
    pv__tile = torch.matmul(p__ssa_v0_mat.float(), v_blk__tile.float())  # FP32[16, 64]
    old__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    t__tile = old__tile * alpha__tile  # FP32[16, 64]
    t__tile_1 = t__tile + pv__tile  # FP32[16, 64]
    acc__tile = _tile_store(t__tile_1, [0, 0], acc__ssa_v0)  # FP32[16, 64]
    return acc__tile


def finish(acc__ssa_v0, denom__ssa_v0, out__ssa_v0):
    """InCore kernel. In: acc__ssa_v0, denom__ssa_v0. Out: out__ssa_v0."""
    acc__tile = _tile_load(acc__ssa_v0, [0, 0], [16, 64])  # FP32[16, 64]
    denom__tile = _tile_load(denom__ssa_v0, [0, 0], [16, 1])  # FP32[16, 1]
    t__tile = acc__tile / denom__tile  # FP32[16, 64]
    out__tile = _tile_store(t__tile, [0, 0], out__ssa_v0)  # FP32[16, 64]
    return out__tile


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
