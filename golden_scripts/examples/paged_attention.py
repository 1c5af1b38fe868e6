"""_jit_paged_attention

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor, _fillpad, _tile_slice


def paged_attention(q, keys, values, table, lengths, out):
    """Orchestration function."""
    _check_tensor("q", q, [64, 64], torch.bfloat16)
    _check_tensor("keys", keys, [1280, 64], torch.bfloat16)
    _check_tensor("values", values, [1280, 64], torch.bfloat16)
    _check_tensor("table", table, [4, 6], torch.int32)
    _check_tensor("lengths", lengths, [4], torch.int32)
    _check_tensor("out", out, [64, 64], torch.float32)
    for b in range(4):
        length = lengths[b].item()
        query = q[b * 16 : b * 16 + 16, 0:64].clone()
        _check_tensor("query", query, [16, 64], torch.bfloat16)
        best = torch.full([16, 1], -1e30, dtype=torch.float32, device=q.device)
        _check_tensor("best", best, [16, 1], torch.float32)
        total = torch.full([16, 1], 0.0, dtype=torch.float32, device=q.device)
        _check_tensor("total", total, [16, 1], torch.float32)
        acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=q.device)
        _check_tensor("acc", acc, [16, 64], torch.float32)
        for j in range((length + 32 - 1) // 32):
            row = table[b, j].item() * 32
            valid = min(32, length - j * 32)
            scores = torch.matmul(query.float(), _tile_slice(keys, [32, 64], [row, 0]).float().mT)
            _check_tensor("scores", scores, [16, 32], torch.float32)
            scores_v1 = scores * 0.125
            _check_tensor("scores_v1", scores_v1, [16, 32], torch.float32)
            scores_v2 = _fillpad(scores_v1, "min", [16, valid])
            _check_tensor("scores_v2", scores_v2, [16, 32], torch.float32)
            higher = torch.maximum(best, torch.amax(scores_v2, dim=-1, keepdim=True))
            _check_tensor("higher", higher, [16, 1], torch.float32)
            weights = torch.exp((scores_v2 - higher))
            _check_tensor("weights", weights, [16, 32], torch.float32)
            shrink = torch.exp((best - higher))
            _check_tensor("shrink", shrink, [16, 1], torch.float32)
            total = (total * shrink) + torch.sum(weights, dim=-1, keepdim=True)
            _check_tensor("total", total, [16, 1], torch.float32)
            part = torch.matmul(
                weights.to(torch.bfloat16).float(), _tile_slice(values, [32, 64], [row, 0]).float()
            )
            _check_tensor("part", part, [16, 64], torch.float32)
            acc = (acc * shrink) + part
            _check_tensor("acc", acc, [16, 64], torch.float32)
            best = higher
            _check_tensor("best", best, [16, 1], torch.float32)
        out = _assemble(out, (acc / total), [b * 16, 0])
        _check_tensor("out", out, [64, 64], torch.float32)
    return out
