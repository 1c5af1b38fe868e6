"""_jit_scope3. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def scope3(attn_out, hidden_states, wo, post_rms_weight, w_gate, w_up, w_down, out):
    """Orchestration function.

    In: attn_out, hidden_states, wo, post_rms_weight, w_gate, w_up, w_down.
    Out: out.
    """
    _compare_shapes(
        {
            "attn_out": (attn_out.shape, [16, 512]),
            "hidden_states": (hidden_states.shape, [16, 512]),
            "wo": (wo.shape, [512, 512]),
            "post_rms_weight": (post_rms_weight.shape, [1, 512]),
            "w_gate": (w_gate.shape, [512, 1024]),
            "w_up": (w_up.shape, [512, 1024]),
            "w_down": (w_down.shape, [1024, 512]),
            "out": (out.shape, [16, 512]),
        }
    )
    resid = torch.zeros([16, 512], dtype=torch.float32, device=attn_out.device)  # FP32[16, 512]
    for n in range(0, 512, 128):
        before = hidden_states[0:16, n : n + 128].clone().to(torch.float32)  # FP32[16, 128]
        resid = _assemble(resid, product(attn_out, wo, n) + before, [0, n])  # FP32[16, 512]
    normed = torch.zeros([16, 512], dtype=torch.bfloat16, device=attn_out.device)  # BF16[16, 512]
    squares = torch.full([16, 1], 0.0, dtype=torch.float32, device=attn_out.device)  # FP32[16, 1]
    for k in range(0, 512, 128):
        part = resid[0:16, k : k + 128]  # FP32[16, 128]
        squares = squares + torch.sum(part * part, dim=-1, keepdim=True)  # FP32[16, 1]
    inverse = torch.rsqrt(squares * 0.001953125 + 1e-06)  # FP32[16, 1]
    for k_1 in range(0, 512, 128):
        scaled = resid[0:16, k_1 : k_1 + 128] * inverse  # FP32[16, 128]
        weighted = scaled * post_rms_weight[0:1, k_1 : k_1 + 128]  # FP32[16, 128]
        normed = _assemble(normed, weighted.to(torch.bfloat16), [0, k_1])  # BF16[16, 512]
    inner = torch.zeros([16, 1024], dtype=torch.bfloat16, device=attn_out.device)  # BF16[16, 1024]
    for n_1 in range(0, 1024, 128):
        gate = product_1(normed, w_gate, n_1)  # FP32[16, 128]
        up = product_1(normed, w_up, n_1)  # FP32[16, 128]
        sigmoid = torch.reciprocal(torch.exp(-gate) + 1.0)  # FP32[16, 128]
        gated = gate * sigmoid * up  # FP32[16, 128]
        inner = _assemble(inner, gated.to(torch.bfloat16), [0, n_1])  # BF16[16, 1024]
    for n_2 in range(0, 512, 128):
        y = product_2(inner, w_down, n_2) + resid[0:16, n_2 : n_2 + 128].clone()  # FP32[16, 128]
        out = _assemble(out, y.to(torch.bfloat16), [0, n_2])  # BF16[16, 512]
    return out


def product(x, weight, n):
    """Inline function. In: x, weight, n."""
    # TILE_N columns of ``x @ weight`` from column n on, in FP32.
    acc = torch.matmul(x[0:16, 0:128].float(), weight[0:128, n : n + 128].float())  # FP32[16, 128]
    for k in range(128, 512, 128):
        acc = acc + torch.matmul(
            x[0:16, k : k + 128].float(), weight[k : k + 128, n : n + 128].float()
        )
    return acc


def product_1(x, weight, n):
    """Inline function. In: x, weight, n."""
    # TILE_N columns of ``x @ weight`` from column n on, in FP32.
    acc = torch.matmul(x[0:16, 0:128].float(), weight[0:128, n : n + 128].float())  # FP32[16, 128]
    for k in range(128, 512, 128):
        acc = acc + torch.matmul(
            x[0:16, k : k + 128].float(), weight[k : k + 128, n : n + 128].float()
        )
    return acc


def product_2(x, weight, n):
    """Inline function. In: x, weight, n."""
    # TILE_N columns of ``x @ weight`` from column n on, in FP32.
    acc = torch.matmul(x[0:16, 0:128].float(), weight[0:128, n : n + 128].float())  # FP32[16, 128]
    for k in range(128, 1024, 128):
        acc = acc + torch.matmul(
            x[0:16, k : k + 128].float(), weight[k : k + 128, n : n + 128].float()
        )
    return acc


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
