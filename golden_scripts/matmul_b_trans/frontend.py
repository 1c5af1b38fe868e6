"""QueryKey

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(q, k, out):
    """Opaque function."""
    _check_tensor("q", q, [32, 64], torch.bfloat16)
    _check_tensor("k", k, [128, 64], torch.bfloat16)
    _check_tensor("out", out, [32, 128], torch.float32)
    for s in range(0, 128, 64):
        kt = k[s : s + 64, 0:64]
        _check_tensor("kt", kt, [64, 64], torch.bfloat16)
        out = _assemble(out, torch.matmul(q.float(), kt.float().mT), [0, s])
        _check_tensor("out", out, [32, 128], torch.float32)
    return out
