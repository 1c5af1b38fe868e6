"""FlashAttention. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def attention(q, k, v, out):
    """Orchestration function. In: q, k, v. Out: out."""
    _compare_shapes(
        {
            "q": (q.shape, [16, 64]),
            "k": (k.shape, [256, 64]),
            "v": (v.shape, [256, 64]),
            "out": (out.shape, [16, 64]),
        }
    )
    m = torch.zeros([16, 1], dtype=torch.float32, device=q.device)  # FP32[16, 1]
    denom = torch.zeros([16, 1], dtype=torch.float32, device=q.device)  # FP32[16, 1]
    acc = torch.zeros([16, 64], dtype=torch.float32, device=q.device)  # FP32[16, 64]
    m, denom, acc = init(m, denom, acc)  # FP32[16, 1], FP32[16, 1], FP32[16, 64]
    for s0 in range(0, 256, 64):
        s = torch.zeros([16, 64], dtype=torch.float32, device=q.device)  # FP32[16, 64]
        s = scores(q, k, s0, s)  # FP32[16, 64]
        alpha = torch.zeros([16, 1], dtype=torch.float32, device=q.device)  # FP32[16, 1]
        p = torch.zeros([16, 64], dtype=torch.bfloat16, device=q.device)  # BF16[16, 64]
        m, denom, alpha, p = online(s, m, denom, alpha, p)
        acc = accumulate(p, v, s0, alpha, acc)  # FP32[16, 64]
    out = finish(acc, denom, out)  # FP32[16, 64]
    return out


def init(m, denom, acc):
    """InCore kernel. Out: m, denom, acc."""
    m = _assemble(m, torch.full([16, 1], -1e30, dtype=torch.float32, device=m.device), [0, 0])
    denom = _assemble(denom, torch.full([16, 1], 0.0, dtype=torch.float32, device=m.device), [0, 0])
    acc = _assemble(acc, torch.full([16, 64], 0.0, dtype=torch.float32, device=m.device), [0, 0])
    return m, denom, acc


def scores(q, k, s0, s):
    """InCore kernel. In: q, k, s0. Out: s."""
    k_blk = k[s0 : s0 + 64, 0:64]  # BF16[64, 64]
    s = _assemble(s, torch.matmul(q.float(), k_blk.float().mT), [0, 0])  # FP32[16, 64]
    return s


def online(s, m, denom, alpha, p):
    """InCore kernel. In: s. InOut: m, denom. Out: alpha, p."""
    scaled = s * 0.125  # FP32[16, 64]
    m_old = m[0:16, 0:1]  # FP32[16, 1]
    m_new = torch.maximum(m_old, torch.amax(scaled, dim=-1, keepdim=True))  # FP32[16, 1]
    e = torch.exp(scaled - m_new)  # FP32[16, 64]
    a = torch.exp(m_old - m_new)  # FP32[16, 1]
    d_new = denom[0:16, 0:1] * a + torch.sum(e, dim=-1, keepdim=True)  # FP32[16, 1]
    m = _assemble(m, m_new, [0, 0])  # FP32[16, 1]
    denom = _assemble(denom, d_new, [0, 0])  # FP32[16, 1]
    alpha = _assemble(alpha, a, [0, 0])  # FP32[16, 1]
    p = _assemble(p, e.to(torch.bfloat16), [0, 0])  # BF16[16, 64]
    return m, denom, alpha, p


def accumulate(p, v, s0, alpha, acc):
    """InCore kernel. In: p, v, s0, alpha. InOut: acc."""
    v_blk = v[s0 : s0 + 64, 0:64]  # BF16[64, 64]
    pv = torch.matmul(p.float(), v_blk.float())  # FP32[16, 64]
    old = acc[0:16, 0:64]  # FP32[16, 64]
    acc = _assemble(acc, old * alpha + pv, [0, 0])  # FP32[16, 64]
    return acc


def finish(acc, denom, out):
    """InCore kernel. In: acc, denom. Out: out."""
    out = _assemble(out, acc / denom, [0, 0])  # FP32[16, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
