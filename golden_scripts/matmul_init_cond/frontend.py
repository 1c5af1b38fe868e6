"""MatmulInitCond. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _acc_init, _assemble, _compare_shapes


def main(a, b, out):
    """Opaque function. In: a, b. Out: out."""
    _compare_shapes(
        {"a": (a.shape, [32, 192]), "b": (b.shape, [192, 64]), "out": (out.shape, [32, 64])}
    )
    acc = torch.zeros([32, 64], dtype=torch.float32, device=a.device)  # FP32[32, 64]
    for k in range(0, 192, 64):
        ak = a[0:32, k : k + 64]  # FP16[32, 64]
        bk = b[k : k + 64, 0:64]  # FP16[64, 64]
        acc = _acc_init(acc.clone(), torch.matmul(ak.float(), bk.float()), k == 0)  # FP32[32, 64]
    out = _assemble(out, acc, [0, 0])  # FP32[32, 64]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
