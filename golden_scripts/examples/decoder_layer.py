"""_jit_decoder_layer. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _tile_slice


def decoder_layer(x, gamma1, wq, keys, values, wo, gamma2, w_gate, w_up, w_down, out):
    """Orchestration function.

    In: x, gamma1, wq, keys, values, wo, gamma2, w_gate, w_up, w_down.
    Out: out.
    """
    _compare_shapes(
        {
            "x": (x.shape, [16, 128]),
            "gamma1": (gamma1.shape, [1, 128]),
            "wq": (wq.shape, [128, 128]),
            "keys": (keys.shape, [1024, 128]),
            "values": (values.shape, [1024, 128]),
            "wo": (wo.shape, [128, 128]),
            "gamma2": (gamma2.shape, [1, 128]),
            "w_gate": (w_gate.shape, [128, 256]),
            "w_up": (w_up.shape, [128, 256]),
            "w_down": (w_down.shape, [256, 128]),
            "out": (out.shape, [16, 128]),
        }
    )
    q = linear(rms_norm(x, gamma1), wq)  # FP32[16, 128]
    mixed = attention(q, keys, values)  # BF16[16, 128]
    hidden = add(x, linear(mixed, wo))  # FP32[16, 128]
    normed = rms_norm(hidden, gamma2)  # BF16[16, 128]
    inner = gated(linear_1(normed, w_gate), linear_1(normed, w_up))  # BF16[16, 256]
    down = linear_2(inner, w_down)  # FP32[16, 128]
    out = _assemble(out, hidden + down, [0, 0])  # FP32[16, 128]
    return out


def linear(x, weight):
    """Inline function. In: x, weight."""
    out = torch.zeros([16, 128], dtype=torch.float32, device=x.device)  # FP32[16, 128]
    for n in range(0, 128, 64):
        acc = torch.matmul(
            _tile_slice(x, [16, 64], [0, 0]).float(), weight[0:64, n : n + 64].float()
        )
        for k in range(64, 128, 64):
            acc = acc + torch.matmul(
                _tile_slice(x, [16, 64], [0, k]).float(), weight[k : k + 64, n : n + 64].float()
            )
        out = _assemble(out, acc, [0, n])  # FP32[16, 128]
    return out


def rms_norm(x, gamma):
    """Inline function. In: x, gamma."""
    out = torch.zeros([16, 128], dtype=torch.bfloat16, device=x.device)  # BF16[16, 128]
    mean = torch.sum(x * x, dim=-1, keepdim=True) * 0.0078125  # FP32[16, 1]
    normed = x * torch.rsqrt(mean + 1e-06)  # FP32[16, 128]
    y = (normed * gamma).to(torch.bfloat16)  # BF16[16, 128]
    out = _assemble(out, y, [0, 0])  # BF16[16, 128]
    return out


def attention(q, keys, values):
    """Inline function. In: q, keys, values."""
    # Every sequence attends to its SEQ rows of the cache, head by head.
    out = torch.zeros([16, 128], dtype=torch.bfloat16, device=q.device)  # BF16[16, 128]
    for b in range(16):
        for h in range(2):
            c = h * 64
            query = _tile_slice(q, [1, 64], [b, c]).to(torch.bfloat16)  # BF16[1, 64]
            k = keys[b * 64 : b * 64 + 64, c : c + 64]  # BF16[64, 64]
            scores = torch.matmul(query.float(), k.float().mT) * 0.125  # FP32[1, 64]
            e = torch.exp(scores - torch.amax(scores, dim=-1, keepdim=True))  # FP32[1, 64]
            p = (e / torch.sum(e, dim=-1, keepdim=True)).to(torch.bfloat16)  # BF16[1, 64]
            v = values[b * 64 : b * 64 + 64, c : c + 64]  # BF16[64, 64]
            y = torch.matmul(p.float(), v.float())  # FP32[1, 64]
            out = _assemble(out, y.to(torch.bfloat16), [b, c])  # BF16[16, 128]
    return out


def add(x, y):
    """Inline function. In: x, y."""
    out = torch.zeros([16, 128], dtype=torch.float32, device=x.device)  # FP32[16, 128]
    out = _assemble(out, x + y, [0, 0])  # FP32[16, 128]
    return out


def gated(gate, up):
    """Inline function. In: gate, up."""
    out = torch.zeros([16, 256], dtype=torch.bfloat16, device=gate.device)  # BF16[16, 256]
    sigmoid = torch.reciprocal(torch.exp(-gate) + 1.0)  # FP32[16, 256]
    y = gate * sigmoid * up  # FP32[16, 256]
    out = _assemble(out, y.to(torch.bfloat16), [0, 0])  # BF16[16, 256]
    return out


def linear_1(x, weight):
    """Inline function. In: x, weight."""
    out = torch.zeros([16, 256], dtype=torch.float32, device=x.device)  # FP32[16, 256]
    for n in range(0, 256, 64):
        acc = torch.matmul(
            _tile_slice(x, [16, 64], [0, 0]).float(), weight[0:64, n : n + 64].float()
        )
        for k in range(64, 128, 64):
            acc = acc + torch.matmul(
                _tile_slice(x, [16, 64], [0, k]).float(), weight[k : k + 64, n : n + 64].float()
            )
        out = _assemble(out, acc, [0, n])  # FP32[16, 256]
    return out


def linear_2(x, weight):
    """Inline function. In: x, weight."""
    out = torch.zeros([16, 128], dtype=torch.float32, device=x.device)  # FP32[16, 128]
    for n in range(0, 128, 64):
        acc = torch.matmul(
            _tile_slice(x, [16, 64], [0, 0]).float(), weight[0:64, n : n + 64].float()
        )
        for k in range(64, 256, 64):
            acc = acc + torch.matmul(
                _tile_slice(x, [16, 64], [0, k]).float(), weight[k : k + 64, n : n + 64].float()
            )
        out = _assemble(out, acc, [0, n])  # FP32[16, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
