"""GatherCols

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_tensor


def main(x, index, out):
    """Opaque function."""
    _check_tensor("x", x, [16, 64], torch.float32)
    _check_tensor("index", index, [16, 32], torch.int32)
    _check_tensor("out", out, [16, 32], torch.float32)
    g = torch.gather(x, -1, index.long())
    _check_tensor("g", g, [16, 32], torch.float32)
    out = _assemble(out, (g * g), [0, 0])
    _check_tensor("out", out, [16, 32], torch.float32)
    return out
