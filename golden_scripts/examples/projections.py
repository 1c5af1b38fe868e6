"""_jit_projections. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _compare_shapes


def projections(x, wq, wk, wv, q, k, v):
    """Orchestration function. In: x, wq, wk, wv. Out: q, k, v."""
    _compare_shapes(
        {
            "x": (x.shape, [16, 1024]),
            "wq": (wq.shape, [1024, 1024]),
            "wk": (wk.shape, [1024, 1024]),
            "wv": (wv.shape, [1024, 1024]),
            "q": (q.shape, [16, 1024]),
            "k": (k.shape, [16, 1024]),
            "v": (v.shape, [16, 1024]),
        }
    )
    q = project(x, wq, q)  # FP32[16, 1024]
    k = project(x, wk, k)  # FP32[16, 1024]
    v = project(x, wv, v)  # FP32[16, 1024]
    return q, k, v


def project(x, weight, out):
    """Inline function. In: x, weight, out."""
    for n in range(0, 1024, 256):
        acc = torch.matmul(x[0:16, 0:128].float(), weight[0:128, n : n + 256].float())
        for k in range(128, 1024, 128):
            acc = acc + torch.matmul(
                x[0:16, k : k + 128].float(), weight[k : k + 128, n : n + 256].float()
            )
        out = _assemble(out, acc, [0, n])  # FP32[16, 1024]
    return out


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
