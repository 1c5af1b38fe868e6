"""MatmulInitCond

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _acc_init, _assemble, _check_tensor


def main(a, b, out):
    """Opaque function."""
    _check_tensor("a", a, [32, 192], torch.float16)
    _check_tensor("b", b, [192, 64], torch.float16)
    _check_tensor("out", out, [32, 64], torch.float32)
    acc = torch.zeros([32, 64], dtype=torch.float32, device=a.device)
    _check_tensor("acc", acc, [32, 64], torch.float32)
    for k in range(0, 192, 64):
        ak = a[0:32, k : k + 64]
        _check_tensor("ak", ak, [32, 64], torch.float16)
        bk = b[k : k + 64, 0:64]
        _check_tensor("bk", bk, [64, 64], torch.float16)
        acc = _acc_init(acc.clone(), torch.matmul(ak.float(), bk.float()), (k == 0))
        _check_tensor("acc", acc, [32, 64], torch.float32)
    out = _assemble(out, acc, [0, 0])
    _check_tensor("out", out, [32, 64], torch.float32)
    return out
