"""ScalarControlFlow

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _apart, _assemble, _check_tensor


def main(x, flags, out):
    """Opaque function."""
    _check_tensor("x", x, [32, 64], torch.float32)
    _check_tensor("flags", flags, [4], torch.int32)
    _check_tensor("out", out, [32, 64], torch.float32)
    t = x[0:32, 0:64].clone()
    _check_tensor("t", t, [32, 64], torch.float32)
    for i in range(4):
        flag = flags[i].item()
        if flag > 0:
            t = t + 1.0
            _check_tensor("t", t, [32, 64], torch.float32)
        else:
            t = t * 0.5
            _check_tensor("t", t, [32, 64], torch.float32)
        for j in range(i + 1):
            if j % 2 == 0:
                t = t - 0.125
                _check_tensor("t", t, [32, 64], torch.float32)
    out = _assemble(out, _apart(t, out, [0, 0]), [0, 0])
    _check_tensor("out", out, [32, 64], torch.float32)
    return out
