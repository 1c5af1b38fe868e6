"""_jit_paged_attention. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes, _fillpad, _tile_slice


def paged_attention(q, keys, values, table, lengths, out):
    """Orchestration function. In: q, keys, values, table, lengths. Out: out."""
    _compare_shapes(
        {
            "q": (q.shape, [64, 64]),
            "keys": (keys.shape, [1280, 64]),
            "values": (values.shape, [1280, 64]),
            "table": (table.shape, [4, 6]),
            "lengths": (lengths.shape, [4]),
            "out": (out.shape, [64, 64]),
        }
    )
    for b in range(4):
        length = lengths[b].item()
        query = q[b * 16 : b * 16 + 16, 0:64].clone()  # BF16[16, 64]
        best = torch.full([16, 1], -1e30, dtype=torch.float32, device=q.device)  # FP32[16, 1]
        total = torch.full([16, 1], 0.0, dtype=torch.float32, device=q.device)  # FP32[16, 1]
        acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=q.device)  # FP32[16, 64]
        for j in range((length + 32 - 1) // 32):
            row = table[b, j].item() * 32
            valid = min(32, length - j * 32)
            scores = torch.matmul(query.float(), _tile_slice(keys, [32, 64], [row, 0]).float().mT)
            scores_v1 = scores * 0.125  # FP32[16, 32]
            scores_v2 = _fillpad(scores_v1, "min", [16, valid])  # FP32[16, 32]
            higher = torch.maximum(best, torch.amax(scores_v2, dim=-1, keepdim=True))  # FP32[16, 1]
            weights = torch.exp(scores_v2 - higher)  # FP32[16, 32]
            shrink = torch.exp(best - higher)  # FP32[16, 1]
            total = total * shrink + torch.sum(weights, dim=-1, keepdim=True)  # FP32[16, 1]
            part = torch.matmul(
                weights.to(torch.bfloat16).float(), _tile_slice(values, [32, 64], [row, 0]).float()
            )
            acc = acc * shrink + part  # FP32[16, 64]
            best = higher  # FP32[16, 1]
        out = _assemble(out, acc / total, [b * 16, 0])  # FP32[64, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
