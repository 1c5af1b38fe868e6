"""_jit_gemm. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def gemm(a, b, c):
    """Orchestration function. In: a, b. Out: c."""
    _compare_shapes(
        {"a": (a.shape, [64, 512]), "b": (b.shape, [512, 256]), "c": (c.shape, [64, 256])}
    )
    for m in range(0, 64, 32):
        for n in range(0, 256, 128):
            acc = torch.matmul(a[m : m + 32, 0:128].float(), b[0:128, n : n + 128].float())
            for k in range(128, 512, 128):
                left = a[m : m + 32, k : k + 128]  # BF16[32, 128]
                right = b[k : k + 128, n : n + 128]  # BF16[128, 128]
                acc = acc + torch.matmul(left.float(), right.float())  # FP32[32, 128]
            c = _assemble(c, acc, [m, n])  # FP32[64, 256]
    return c


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
