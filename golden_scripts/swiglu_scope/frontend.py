"""SwigluScope

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def scope(attn, hidden, wo, gamma, w_gate, w_up, w_down, out):
    """Opaque function."""
    _check_tensor("attn", attn, [16, 256], torch.bfloat16)
    _check_tensor("hidden", hidden, [16, 256], torch.bfloat16)
    _check_tensor("wo", wo, [256, 256], torch.bfloat16)
    _check_tensor("gamma", gamma, [1, 256], torch.float32)
    _check_tensor("w_gate", w_gate, [256, 512], torch.bfloat16)
    _check_tensor("w_up", w_up, [256, 512], torch.bfloat16)
    _check_tensor("w_down", w_down, [512, 256], torch.bfloat16)
    _check_tensor("out", out, [16, 256], torch.bfloat16)
    resid = torch.zeros([16, 256], dtype=torch.float32, device=attn.device)
    _check_tensor("resid", resid, [16, 256], torch.float32)
    for n in range(0, 256, 64):
        acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("acc", acc, [16, 64], torch.float32)
        for k in range(0, 256, 128):
            a_k = attn[0:16, k : k + 128]
            _check_tensor("a_k", a_k, [16, 128], torch.bfloat16)
            w_k = wo[k : k + 128, n : n + 64]
            _check_tensor("w_k", w_k, [128, 64], torch.bfloat16)
            acc = acc + torch.matmul(a_k.float(), w_k.float())
            _check_tensor("acc", acc, [16, 64], torch.float32)
        h_n = hidden[0:16, n : n + 64].to(torch.float32)
        _check_tensor("h_n", h_n, [16, 64], torch.float32)
        resid = _assemble(resid, (acc + h_n), [0, n])
        _check_tensor("resid", resid, [16, 256], torch.float32)
    normed = torch.zeros([16, 256], dtype=torch.bfloat16, device=attn.device)
    _check_tensor("normed", normed, [16, 256], torch.bfloat16)
    ms = torch.sum((resid * resid), dim=-1, keepdim=True) * 0.00390625
    _check_tensor("ms", ms, [16, 1], torch.float32)
    inv = torch.rsqrt((ms + 1e-06))
    _check_tensor("inv", inv, [16, 1], torch.float32)
    scaled = (resid * inv) * gamma
    _check_tensor("scaled", scaled, [16, 256], torch.float32)
    normed = _assemble(normed, scaled.to(torch.bfloat16), [0, 0])
    _check_tensor("normed", normed, [16, 256], torch.bfloat16)
    act = torch.zeros([16, 512], dtype=torch.bfloat16, device=attn.device)
    _check_tensor("act", act, [16, 512], torch.bfloat16)
    for n_1 in range(0, 512, 64):
        gate = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("gate", gate, [16, 64], torch.float32)
        up = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("up", up, [16, 64], torch.float32)
        for k_1 in range(0, 256, 128):
            x_k = normed[0:16, k_1 : k_1 + 128]
            _check_tensor("x_k", x_k, [16, 128], torch.bfloat16)
            gate = gate + torch.matmul(x_k.float(), w_gate[k_1 : k_1 + 128, n_1 : n_1 + 64].float())
            _check_tensor("gate", gate, [16, 64], torch.float32)
            up = up + torch.matmul(x_k.float(), w_up[k_1 : k_1 + 128, n_1 : n_1 + 64].float())
            _check_tensor("up", up, [16, 64], torch.float32)
        sig = torch.reciprocal((torch.exp((-gate)) + 1.0))
        _check_tensor("sig", sig, [16, 64], torch.float32)
        m = (gate * sig) * up
        _check_tensor("m", m, [16, 64], torch.float32)
        act = _assemble(act, m.to(torch.bfloat16), [0, n_1])
        _check_tensor("act", act, [16, 512], torch.bfloat16)
    for n_2 in range(0, 256, 64):
        down = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("down", down, [16, 64], torch.float32)
        for k_2 in range(0, 512, 128):
            m_k = act[0:16, k_2 : k_2 + 128]
            _check_tensor("m_k", m_k, [16, 128], torch.bfloat16)
            down = down + torch.matmul(m_k.float(), w_down[k_2 : k_2 + 128, n_2 : n_2 + 64].float())
            _check_tensor("down", down, [16, 64], torch.float32)
        y = down + resid[0:16, n_2 : n_2 + 64]
        _check_tensor("y", y, [16, 64], torch.float32)
        out = _assemble(out, y.to(torch.bfloat16), [0, n_2])
        _check_tensor("out", out, [16, 256], torch.bfloat16)
    return out
