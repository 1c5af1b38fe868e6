"""_jit_decoder_layer

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor, _tile_slice


def decoder_layer(x, gamma1, wq, keys, values, wo, gamma2, w_gate, w_up, w_down, out):
    """Orchestration function."""
    _check_tensor("x", x, [16, 128], torch.float32)
    _check_tensor("gamma1", gamma1, [1, 128], torch.float32)
    _check_tensor("wq", wq, [128, 128], torch.bfloat16)
    _check_tensor("keys", keys, [1024, 128], torch.bfloat16)
    _check_tensor("values", values, [1024, 128], torch.bfloat16)
    _check_tensor("wo", wo, [128, 128], torch.bfloat16)
    _check_tensor("gamma2", gamma2, [1, 128], torch.float32)
    _check_tensor("w_gate", w_gate, [128, 256], torch.bfloat16)
    _check_tensor("w_up", w_up, [128, 256], torch.bfloat16)
    _check_tensor("w_down", w_down, [256, 128], torch.bfloat16)
    _check_tensor("out", out, [16, 128], torch.float32)
    q = linear(rms_norm(x, gamma1), wq)
    _check_tensor("q", q, [16, 128], torch.float32)
    mixed = attention(q, keys, values)
    _check_tensor("mixed", mixed, [16, 128], torch.bfloat16)
    hidden = add(x, linear(mixed, wo))
    _check_tensor("hidden", hidden, [16, 128], torch.float32)
    normed = rms_norm(hidden, gamma2)
    _check_tensor("normed", normed, [16, 128], torch.bfloat16)
    inner = gated(linear_1(normed, w_gate), linear_1(normed, w_up))
    _check_tensor("inner", inner, [16, 256], torch.bfloat16)
    down = linear_2(inner, w_down)
    _check_tensor("down", down, [16, 128], torch.float32)
    out = _assemble(out, (hidden + down), [0, 0])
    _check_tensor("out", out, [16, 128], torch.float32)
    return out


def linear(x, weight):
    """Inline function."""
    _check_dtype("x", x, torch.bfloat16)
    _check_dtype("weight", weight, torch.bfloat16)
    out = torch.zeros([16, 128], dtype=torch.float32, device=x.device)
    _check_tensor("out", out, [16, 128], torch.float32)
    for n in range(0, 128, 64):
        acc = torch.matmul(
            _tile_slice(x, [16, 64], [0, 0]).float(), weight[0:64, n : n + 64].float()
        )
        _check_tensor("acc", acc, [16, 64], torch.float32)
        for k in range(64, 128, 64):
            acc = acc + torch.matmul(
                _tile_slice(x, [16, 64], [0, k]).float(), weight[k : k + 64, n : n + 64].float()
            )
            _check_tensor("acc", acc, [16, 64], torch.float32)
        out = _assemble(out, acc, [0, n])
        _check_tensor("out", out, [16, 128], torch.float32)
    return out


def rms_norm(x, gamma):
    """Inline function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("gamma", gamma, torch.float32)
    out = torch.zeros([16, 128], dtype=torch.bfloat16, device=x.device)
    _check_tensor("out", out, [16, 128], torch.bfloat16)
    mean = torch.sum((x * x), dim=-1, keepdim=True) * 0.0078125
    _check_tensor("mean", mean, [16, 1], torch.float32)
    normed = x * torch.rsqrt((mean + 1e-06))
    _check_tensor("normed", normed, [16, 128], torch.float32)
    y = (normed * gamma).to(torch.bfloat16)
    _check_tensor("y", y, [16, 128], torch.bfloat16)
    out = _assemble(out, y, [0, 0])
    _check_tensor("out", out, [16, 128], torch.bfloat16)
    return out


def attention(q, keys, values):
    """Inline function."""
    _check_dtype("q", q, torch.float32)
    _check_dtype("keys", keys, torch.bfloat16)
    _check_dtype("values", values, torch.bfloat16)
    # Every sequence attends to its SEQ rows of the cache, head by head.
    out = torch.zeros([16, 128], dtype=torch.bfloat16, device=q.device)
    _check_tensor("out", out, [16, 128], torch.bfloat16)
    for b in range(16):
        for h in range(2):
            c = h * 64
            query = _tile_slice(q, [1, 64], [b, c]).to(torch.bfloat16)
            _check_tensor("query", query, [1, 64], torch.bfloat16)
            k = keys[b * 64 : b * 64 + 64, c : c + 64]
            _check_tensor("k", k, [64, 64], torch.bfloat16)
            scores = torch.matmul(query.float(), k.float().mT) * 0.125
            _check_tensor("scores", scores, [1, 64], torch.float32)
            e = torch.exp((scores - torch.amax(scores, dim=-1, keepdim=True)))
            _check_tensor("e", e, [1, 64], torch.float32)
            p = (e / torch.sum(e, dim=-1, keepdim=True)).to(torch.bfloat16)
            _check_tensor("p", p, [1, 64], torch.bfloat16)
            v = values[b * 64 : b * 64 + 64, c : c + 64]
            _check_tensor("v", v, [64, 64], torch.bfloat16)
            y = torch.matmul(p.float(), v.float())
            _check_tensor("y", y, [1, 64], torch.float32)
            out = _assemble(out, y.to(torch.bfloat16), [b, c])
            _check_tensor("out", out, [16, 128], torch.bfloat16)
    return out


def add(x, y):
    """Inline function."""
    _check_dtype("x", x, torch.float32)
    _check_dtype("y", y, torch.float32)
    out = torch.zeros([16, 128], dtype=torch.float32, device=x.device)
    _check_tensor("out", out, [16, 128], torch.float32)
    out = _assemble(out, (x + y), [0, 0])
    _check_tensor("out", out, [16, 128], torch.float32)
    return out


def gated(gate, up):
    """Inline function."""
    _check_dtype("gate", gate, torch.float32)
    _check_dtype("up", up, torch.float32)
    out = torch.zeros([16, 256], dtype=torch.bfloat16, device=gate.device)
    _check_tensor("out", out, [16, 256], torch.bfloat16)
    sigmoid = torch.reciprocal((torch.exp((-gate)) + 1.0))
    _check_tensor("sigmoid", sigmoid, [16, 256], torch.float32)
    y = (gate * sigmoid) * up
    _check_tensor("y", y, [16, 256], torch.float32)
    out = _assemble(out, y.to(torch.bfloat16), [0, 0])
    _check_tensor("out", out, [16, 256], torch.bfloat16)
    return out


def linear_1(x, weight):
    """Inline function."""
    _check_dtype("x", x, torch.bfloat16)
    _check_dtype("weight", weight, torch.bfloat16)
    out = torch.zeros([16, 256], dtype=torch.float32, device=x.device)
    _check_tensor("out", out, [16, 256], torch.float32)
    for n in range(0, 256, 64):
        acc = torch.matmul(
            _tile_slice(x, [16, 64], [0, 0]).float(), weight[0:64, n : n + 64].float()
        )
        _check_tensor("acc", acc, [16, 64], torch.float32)
        for k in range(64, 128, 64):
            acc = acc + torch.matmul(
                _tile_slice(x, [16, 64], [0, k]).float(), weight[k : k + 64, n : n + 64].float()
            )
            _check_tensor("acc", acc, [16, 64], torch.float32)
        out = _assemble(out, acc, [0, n])
        _check_tensor("out", out, [16, 256], torch.float32)
    return out


def linear_2(x, weight):
    """Inline function."""
    _check_dtype("x", x, torch.bfloat16)
    _check_dtype("weight", weight, torch.bfloat16)
    out = torch.zeros([16, 128], dtype=torch.float32, device=x.device)
    _check_tensor("out", out, [16, 128], torch.float32)
    for n in range(0, 128, 64):
        acc = torch.matmul(
            _tile_slice(x, [16, 64], [0, 0]).float(), weight[0:64, n : n + 64].float()
        )
        _check_tensor("acc", acc, [16, 64], torch.float32)
        for k in range(64, 256, 64):
            acc = acc + torch.matmul(
                _tile_slice(x, [16, 64], [0, k]).float(), weight[k : k + 64, n : n + 64].float()
            )
            _check_tensor("acc", acc, [16, 64], torch.float32)
        out = _assemble(out, acc, [0, n])
        _check_tensor("out", out, [16, 128], torch.float32)
    return out
