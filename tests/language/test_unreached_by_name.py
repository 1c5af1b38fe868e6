"""A condition that a local name holds decides what is reached, if it is assigned once, from constants."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

N, PAD = 64, 64
WINDOW = "out[:, N:PAD] = x[:, N:PAD]"
HEAD = """
import pypto.language as pl
N, PAD = 64, 64
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], k: pl.Scalar[pl.INDEX], given: pl.Scalar[pl.BOOL],
             out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:, 0:N] = pl.mul(x[:, 0:N], 2.0)
"""


def parsed(*lines):
    found = pl.parse(HEAD + "".join(f"        {line}\n" for line in lines) + "        return out\n")
    assert isinstance(found, ir.Program)
    return found


NEVER = [
    ("c = N < PAD", "if c:", f"    {WINDOW}"),
    ("c: pl.Scalar[pl.BOOL] = N < PAD", "if c:", f"    {WINDOW}"),
    ("c = N >= PAD", "if not c:", f"    {WINDOW}"),
    ("c = N >= PAD", "if c:", "    y = pl.neg(x)", "else:", f"    {WINDOW}"),
    ("d = PAD - N", "if d > 0:", f"    {WINDOW}"),
    ("d = PAD - N", "e = d > 0", "if e and k > 2:", f"    {WINDOW}"),
    ("d = PAD - N", "for i in pl.range(d):", f"    {WINDOW}"),
    ("c = N < PAD", "while c:", f"    {WINDOW}"),
    ("for i in pl.range(2):", "    c = N < PAD", "    if c:", f"        {WINDOW}"),
]
PERHAPS = [
    ("c = k < 5", "if c:", f"    {WINDOW}"),
    ("c = N < PAD", "for i in pl.range(2):", "    if c:", f"        {WINDOW}", "    c = i < 1"),
    ("if k > 1:", "    given = N < PAD", "if given:", f"    {WINDOW}"),
    ("c = N <= PAD", "if c:", f"    {WINDOW}"),
]


@pytest.mark.parametrize("lines", NEVER)
def test_what_no_run_reaches_is_not_judged(lines):
    program = parsed(*lines)
    namespace: dict = {}
    exec(torch_codegen(program), namespace)
    x, out = torch.arange(1024.0).reshape(16, 64), torch.zeros(16, 64)
    namespace["main"](x, 3, True, out)
    assert torch.equal(out, x * 2)


@pytest.mark.parametrize("lines", PERHAPS)
def test_what_a_run_may_reach_is_judged(lines):
    with pytest.raises(pl.ParserTypeError, match="the slice 'N:PAD' is empty"):
        parsed(*lines)


def test_in_an_inline_function():
    """It is read again for each call, with other constants."""
    inline = """
import pypto.language as pl
@pl.inline
def tail(x, out, low: int, high: int):
    some = low < high
    if some:
        out[:, low:high] = x[:, low:high]
    return out
"""
    text = inline + HEAD.replace("import pypto.language as pl\n", "")
    lines = "        out = tail(x, out, 0, 8)\n        out = tail(x, out, 64, 64)\n        return out\n"
    program = pl.parse(text + lines)
    assert isinstance(program, ir.Program)
    namespace: dict = {}
    exec(torch_codegen(program), namespace)
    x, out = torch.ones(16, 64), torch.zeros(16, 64)
    namespace["main"](x, 3, True, out)
    assert torch.equal(out, torch.cat([x[:, :8], x[:, 8:] * 2], dim=1))


@pl.jit
def by_flag(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        c = N < PAD
        out[:, 0:N] = pl.add(x[:, 0:N], 1.0)
        if c:
            out[:, N:PAD] = x[:, N:PAD]
    return out


@pl.jit
def by_difference(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rest = PAD - N
    some = rest > 0
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:N] = pl.add(x[:, 0:N], 1.0)
        if not some:
            out[:, 0:N] = pl.add(x[:, 0:N], 2.0)
        else:
            out[:, N:PAD] = x[:, N:PAD]
    return out


@pl.jit
def assigned_again(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:N] = pl.add(x[:, 0:N], 1.0)
        c = N < PAD
        for i in pl.range(2):
            if c:
                out[:, N:PAD] = x[:, N:PAD]
            c = i < 1
    return out


@pytest.mark.parametrize(("kernel", "added"), [(by_flag, 1.0), (by_difference, 2.0)])
def test_just_in_time(kernel, added):
    x, out = torch.ones(8, 64), torch.zeros(8, 64)
    kernel(x, out)
    assert torch.equal(out, x + added)


def test_just_in_time_a_flag_of_the_run_decides_nothing():
    with pytest.raises(pl.ParserTypeError, match="is empty"):
        assigned_again(torch.ones(8, 64), torch.zeros(8, 64))
