"""InlineHelpers

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch

from pypto_tmpl.preamble import _assemble, _check_dtype, _check_tensor


def main(x, y, prod, sq):
    """Opaque function."""
    _check_tensor("x", x, [32, 64], torch.float32)
    _check_tensor("y", y, [32, 64], torch.float32)
    _check_tensor("prod", prod, [32, 64], torch.float32)
    _check_tensor("sq", sq, [32, 64], torch.float32)
    _tuple_tmp = sum_and_diff(x, y)
    s = _tuple_tmp[0]
    _check_tensor("s", s, [32, 64], torch.float32)
    d = _tuple_tmp[1]
    _check_tensor("d", d, [32, 64], torch.float32)
    prod = _assemble(prod, (s * d), [0, 0])
    _check_tensor("prod", prod, [32, 64], torch.float32)
    _tuple_tmp_1 = sum_and_diff(prod, x)
    s2 = _tuple_tmp_1[0]
    _check_tensor("s2", s2, [32, 64], torch.float32)
    d2 = _tuple_tmp_1[1]
    _check_tensor("d2", d2, [32, 64], torch.float32)
    sq = _assemble(sq, ((s2 * s2) + d2), [0, 0])
    _check_tensor("sq", sq, [32, 64], torch.float32)
    return prod, sq


def sum_and_diff(a, b):
    """Inline function."""
    _check_dtype("a", a, torch.float32)
    _check_dtype("b", b, torch.float32)
    s = a + b
    _check_tensor("s", s, [32, 64], torch.float32)
    d = a - b
    _check_tensor("d", d, [32, 64], torch.float32)
    return s, d
