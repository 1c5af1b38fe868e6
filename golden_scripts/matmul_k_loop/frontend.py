"""MatmulKLoop

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(a, b, out):
    """Opaque function."""
    _check_tensor("a", a, [64, 256], torch.bfloat16)
    _check_tensor("b", b, [256, 128], torch.bfloat16)
    _check_tensor("out", out, [64, 128], torch.float32)
    for m in range(0, 64, 32):
        for n in range(0, 128, 64):
            a0 = a[m : m + 32, 0:64]
            _check_tensor("a0", a0, [32, 64], torch.bfloat16)
            b0 = b[0:64, n : n + 64]
            _check_tensor("b0", b0, [64, 64], torch.bfloat16)
            acc = torch.matmul(a0.float(), b0.float())
            _check_tensor("acc", acc, [32, 64], torch.float32)
            for k in range(64, 256, 64):
                ak = a[m : m + 32, k : k + 64]
                _check_tensor("ak", ak, [32, 64], torch.bfloat16)
                bk = b[k : k + 64, n : n + 64]
                _check_tensor("bk", bk, [64, 64], torch.bfloat16)
                acc = acc + torch.matmul(ak.float(), bk.float())
                _check_tensor("acc", acc, [32, 64], torch.float32)
            out = _assemble(out, acc, [m, n])
            _check_tensor("out", out, [64, 128], torch.float32)
    return out
