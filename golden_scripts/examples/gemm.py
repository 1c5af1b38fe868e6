"""_jit_gemm

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def gemm(a, b, c):
    """Orchestration function."""
    _check_tensor("a", a, [64, 512], torch.bfloat16)
    _check_tensor("b", b, [512, 256], torch.bfloat16)
    _check_tensor("c", c, [64, 256], torch.float32)
    for m in range(0, 64, 32):
        for n in range(0, 256, 128):
            acc = torch.matmul(a[m : m + 32, 0:128].float(), b[0:128, n : n + 128].float())
            _check_tensor("acc", acc, [32, 128], torch.float32)
            for k in range(128, 512, 128):
                left = a[m : m + 32, k : k + 128]
                _check_tensor("left", left, [32, 128], torch.bfloat16)
                right = b[k : k + 128, n : n + 128]
                _check_tensor("right", right, [128, 128], torch.bfloat16)
                acc = acc + torch.matmul(left.float(), right.float())
                _check_tensor("acc", acc, [32, 128], torch.float32)
            c = _assemble(c, acc, [m, n])
            _check_tensor("c", c, [64, 256], torch.float32)
    return c
