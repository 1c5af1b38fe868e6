"""MatmulKLoop. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(a, b, out):
    """Opaque function. In: a, b. Out: out."""
    _compare_shapes(
        {"a": (a.shape, [64, 256]), "b": (b.shape, [256, 128]), "out": (out.shape, [64, 128])}
    )
    for m in range(0, 64, 32):
        for n in range(0, 128, 64):
            a0 = a[m : m + 32, 0:64]  # BF16[32, 64]
            b0 = b[0:64, n : n + 64]  # BF16[64, 64]
            acc = torch.matmul(a0.float(), b0.float())  # FP32[32, 64]
            for k in range(64, 256, 64):
                ak = a[m : m + 32, k : k + 64]  # BF16[32, 64]
                bk = b[k : k + 64, n : n + 64]  # BF16[64, 64]
                acc = acc + torch.matmul(ak.float(), bk.float())  # FP32[32, 64]
            out = _assemble(out, acc, [m, n])  # FP32[64, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
