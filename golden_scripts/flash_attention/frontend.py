"""FlashAttention

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor, _tile_slice


def attention(q, k, v, out):
    """Orchestration function."""
    _check_tensor("q", q, [16, 64], torch.bfloat16)
    _check_tensor("k", k, [256, 64], torch.bfloat16)
    _check_tensor("v", v, [256, 64], torch.bfloat16)
    _check_tensor("out", out, [16, 64], torch.float32)
    m = torch.zeros([16, 1], dtype=torch.float32, device=q.device)
    _check_tensor("m", m, [16, 1], torch.float32)
    denom = torch.zeros([16, 1], dtype=torch.float32, device=q.device)
    _check_tensor("denom", denom, [16, 1], torch.float32)
    acc = torch.zeros([16, 64], dtype=torch.float32, device=q.device)
    _check_tensor("acc", acc, [16, 64], torch.float32)
    _tuple_tmp = init(m, denom, acc)
    m = _tuple_tmp[0]
    _check_tensor("m", m, [16, 1], torch.float32)
    denom = _tuple_tmp[1]
    _check_tensor("denom", denom, [16, 1], torch.float32)
    acc = _tuple_tmp[2]
    _check_tensor("acc", acc, [16, 64], torch.float32)
    for s0 in range(0, 256, 64):
        s = torch.zeros([16, 64], dtype=torch.float32, device=q.device)
        _check_tensor("s", s, [16, 64], torch.float32)
        s = scores(q, k, s0, s)
        _check_tensor("s", s, [16, 64], torch.float32)
        alpha = torch.zeros([16, 1], dtype=torch.float32, device=q.device)
        _check_tensor("alpha", alpha, [16, 1], torch.float32)
        p = torch.zeros([16, 64], dtype=torch.bfloat16, device=q.device)
        _check_tensor("p", p, [16, 64], torch.bfloat16)
        _tuple_tmp_1 = online(s, m, denom, alpha, p)
        m = _tuple_tmp_1[0]
        _check_tensor("m", m, [16, 1], torch.float32)
        denom = _tuple_tmp_1[1]
        _check_tensor("denom", denom, [16, 1], torch.float32)
        alpha = _tuple_tmp_1[2]
        _check_tensor("alpha", alpha, [16, 1], torch.float32)
        p = _tuple_tmp_1[3]
        _check_tensor("p", p, [16, 64], torch.bfloat16)
        acc = accumulate(p, v, s0, alpha, acc)
        _check_tensor("acc", acc, [16, 64], torch.float32)
    out = finish(acc, denom, out)
    _check_tensor("out", out, [16, 64], torch.float32)
    return out


def init(m, denom, acc):
    """InCore function."""
    _check_dtype("m", m, torch.float32)
    _check_dtype("denom", denom, torch.float32)
    _check_dtype("acc", acc, torch.float32)
    m = _assemble(m, torch.full([16, 1], -1e30, dtype=torch.float32, device=m.device), [0, 0])
    _check_tensor("m", m, [16, 1], torch.float32)
    denom = _assemble(denom, torch.full([16, 1], 0.0, dtype=torch.float32, device=m.device), [0, 0])
    _check_tensor("denom", denom, [16, 1], torch.float32)
    acc = _assemble(acc, torch.full([16, 64], 0.0, dtype=torch.float32, device=m.device), [0, 0])
    _check_tensor("acc", acc, [16, 64], torch.float32)
    return m, denom, acc


def scores(q, k, s0, s):
    """InCore function."""
    _check_dtype("q", q, torch.bfloat16)
    _check_dtype("k", k, torch.bfloat16)
    _check_dtype("s", s, torch.float32)
    k_blk = _tile_slice(k, [64, 64], [s0, 0])
    _check_tensor("k_blk", k_blk, [64, 64], torch.bfloat16)
    s = _assemble(s, torch.matmul(q.float(), k_blk.float().mT), [0, 0])
    _check_tensor("s", s, [16, 64], torch.float32)
    return s


def online(s, m, denom, alpha, p):
    """InCore function."""
    _check_dtype("s", s, torch.float32)
    _check_dtype("m", m, torch.float32)
    _check_dtype("denom", denom, torch.float32)
    _check_dtype("alpha", alpha, torch.float32)
    _check_dtype("p", p, torch.bfloat16)
    scaled = s * 0.125
    _check_tensor("scaled", scaled, [16, 64], torch.float32)
    m_old = m[0:16, 0:1]
    _check_tensor("m_old", m_old, [16, 1], torch.float32)
    m_new = torch.maximum(m_old, torch.amax(scaled, dim=-1, keepdim=True))
    _check_tensor("m_new", m_new, [16, 1], torch.float32)
    e = torch.exp((scaled - m_new))
    _check_tensor("e", e, [16, 64], torch.float32)
    a = torch.exp((m_old - m_new))
    _check_tensor("a", a, [16, 1], torch.float32)
    d_new = (denom[0:16, 0:1] * a) + torch.sum(e, dim=-1, keepdim=True)
    _check_tensor("d_new", d_new, [16, 1], torch.float32)
    m = _assemble(m, m_new, [0, 0])
    _check_tensor("m", m, [16, 1], torch.float32)
    denom = _assemble(denom, d_new, [0, 0])
    _check_tensor("denom", denom, [16, 1], torch.float32)
    alpha = _assemble(alpha, a, [0, 0])
    _check_tensor("alpha", alpha, [16, 1], torch.float32)
    p = _assemble(p, e.to(torch.bfloat16), [0, 0])
    _check_tensor("p", p, [16, 64], torch.bfloat16)
    return m, denom, alpha, p


def accumulate(p, v, s0, alpha, acc):
    """InCore function."""
    _check_dtype("p", p, torch.bfloat16)
    _check_dtype("v", v, torch.bfloat16)
    _check_dtype("alpha", alpha, torch.float32)
    _check_dtype("acc", acc, torch.float32)
    v_blk = _tile_slice(v, [64, 64], [s0, 0])
    _check_tensor("v_blk", v_blk, [64, 64], torch.bfloat16)
    pv = torch.matmul(p.float(), v_blk.float())
    _check_tensor("pv", pv, [16, 64], torch.float32)
    old = acc[0:16, 0:64]
    _check_tensor("old", old, [16, 64], torch.float32)
    acc = _assemble(acc, ((old * alpha) + pv), [0, 0])
    _check_tensor("acc", acc, [16, 64], torch.float32)
    return acc


def finish(acc, denom, out):
    """InCore function."""
    _check_dtype("acc", acc, torch.float32)
    _check_dtype("denom", denom, torch.float32)
    _check_dtype("out", out, torch.float32)
    out = _assemble(out, (acc / denom), [0, 0])
    _check_tensor("out", out, [16, 64], torch.float32)
    return out
