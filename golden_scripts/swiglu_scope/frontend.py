"""SwigluScope. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def scope(attn, hidden, wo, gamma, w_gate, w_up, w_down, out):
    """Opaque function. In: attn, hidden, wo, gamma, w_gate, w_up, w_down. Out: out."""
    _compare_shapes(
        {
            "attn": (attn.shape, [16, 256]),
            "hidden": (hidden.shape, [16, 256]),
            "wo": (wo.shape, [256, 256]),
            "gamma": (gamma.shape, [1, 256]),
            "w_gate": (w_gate.shape, [256, 512]),
            "w_up": (w_up.shape, [256, 512]),
            "w_down": (w_down.shape, [512, 256]),
            "out": (out.shape, [16, 256]),
        }
    )
    resid = torch.zeros([16, 256], dtype=torch.float32, device=attn.device)  # FP32[16, 256]
    for n in range(0, 256, 64):
        acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)  # FP32[16, 64]
        for k in range(0, 256, 128):
            a_k = attn[0:16, k : k + 128]  # BF16[16, 128]
            w_k = wo[k : k + 128, n : n + 64]  # BF16[128, 64]
            acc = acc + torch.matmul(a_k.float(), w_k.float())  # FP32[16, 64]
        h_n = hidden[0:16, n : n + 64].to(torch.float32)  # FP32[16, 64]
        resid = _assemble(resid, acc + h_n, [0, n])  # FP32[16, 256]
    normed = torch.zeros([16, 256], dtype=torch.bfloat16, device=attn.device)  # BF16[16, 256]
    ms = torch.sum(resid * resid, dim=-1, keepdim=True) * 0.00390625  # FP32[16, 1]
    inv = torch.rsqrt(ms + 1e-06)  # FP32[16, 1]
    scaled = resid * inv * gamma  # FP32[16, 256]
    normed = _assemble(normed, scaled.to(torch.bfloat16), [0, 0])  # BF16[16, 256]
    act = torch.zeros([16, 512], dtype=torch.bfloat16, device=attn.device)  # BF16[16, 512]
    for n_1 in range(0, 512, 64):
        gate = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)  # FP32[16, 64]
        up = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)  # FP32[16, 64]
        for k_1 in range(0, 256, 128):
            x_k = normed[0:16, k_1 : k_1 + 128]  # BF16[16, 128]
            gate = gate + torch.matmul(x_k.float(), w_gate[k_1 : k_1 + 128, n_1 : n_1 + 64].float())
            up = up + torch.matmul(x_k.float(), w_up[k_1 : k_1 + 128, n_1 : n_1 + 64].float())
        sig = torch.reciprocal(torch.exp(-gate) + 1.0)  # FP32[16, 64]
        m = gate * sig * up  # FP32[16, 64]
        act = _assemble(act, m.to(torch.bfloat16), [0, n_1])  # BF16[16, 512]
    for n_2 in range(0, 256, 64):
        down = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)  # FP32[16, 64]
        for k_2 in range(0, 512, 128):
            m_k = act[0:16, k_2 : k_2 + 128]  # BF16[16, 128]
            down = down + torch.matmul(m_k.float(), w_down[k_2 : k_2 + 128, n_2 : n_2 + 64].float())
        y = down + resid[0:16, n_2 : n_2 + 64]  # FP32[16, 64]
        out = _assemble(out, y.to(torch.bfloat16), [0, n_2])  # BF16[16, 256]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
