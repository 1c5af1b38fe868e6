"""QueryKey. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def main(q, k, out):
    """Opaque function. In: q, k. Out: out."""
    _compare_shapes(
        {"q": (q.shape, [32, 64]), "k": (k.shape, [128, 64]), "out": (out.shape, [32, 128])}
    )
    for s in range(0, 128, 64):
        kt = k[s : s + 64, 0:64]  # BF16[64, 64]
        out = _assemble(out, torch.matmul(q.float(), kt.float().mT), [0, s])  # FP32[32, 128]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
