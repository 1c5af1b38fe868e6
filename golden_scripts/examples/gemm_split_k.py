"""_jit_gemm_split_k. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
from pypto_tmpl.preamble import _assemble, _assemble_add, _compare_shapes, _tile_slice


def gemm_split_k(a, b, c):
    """Orchestration function. In: a, b. Out: c."""
    _compare_shapes(
        {"a": (a.shape, [32, 1024]), "b": (b.shape, [1024, 128]), "c": (c.shape, [32, 128])}
    )
    c = _assemble(c, torch.full([32, 128], 0.0, dtype=torch.float32, device=a.device), [0, 0])
    for split in range(4):
        k0 = split * 256
        acc = torch.matmul(a[0:32, k0 : k0 + 128].float(), b[k0 : k0 + 128, 0:128].float())
        for k in range(k0 + 128, k0 + 256, 128):
            acc = acc + torch.matmul(
                _tile_slice(a, [32, 128], [0, k]).float(),
                _tile_slice(b, [128, 128], [k, 0]).float(),
            )
        c = _assemble_add(c, acc, [0, 0])  # FP32[32, 128]
    return c


if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")
