"""A number beyond an integer dtype saturates where it is stored, bounds or is compared with; sums wrap."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

TEXT = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.{kind})
    def main(self, x: pl.Tensor[[1, 4], pl.{dtype}], n: pl.Scalar[pl.INT32],
             out: pl.Out[pl.Tensor[[1, 4], pl.{dtype}]]):
{lines}
        return out
"""
INT8 = [5, 127, -128, 0]
TORCH = {"INT8": torch.int8, "UINT8": torch.uint8, "UINT16": torch.uint16}


def ran(body, dtype="INT8", n=0, data=INT8, kind="InCore"):
    lines = "\n".join(f"        {line}" for line in body)
    program = pl.parse(TEXT.format(kind=kind, dtype=dtype, lines=lines))
    assert isinstance(program, ir.Program)
    namespace: dict = {}
    exec(torch_codegen(program), namespace)
    x, out = torch.tensor([data], dtype=TORCH[dtype]), torch.zeros(1, 4, dtype=TORCH[dtype])
    namespace["main"](x, n, out)
    return out.tolist()[0]


def computed(expression):
    return ["t = pl.load(x, [0, 0], [1, 4])", f"u = {expression}", "out = pl.store(u, [0, 0], out)"]


@pytest.mark.parametrize(("number", "held"), [(300, 127), (-129, -128), (128, 127), (-7, -7)])
@pytest.mark.parametrize(
    "expression", ["pl.tile.full([1, 4], pl.INT8, {})", "pl.tile.expands(t, {})", "pl.tile.maximums(t, {})"]
)
def test_what_is_stored_or_bounds(expression, number, held):
    expected = [max(cell, held) for cell in INT8] if "maximums" in expression else [held] * 4
    assert ran(computed(expression.format(number))) == expected
    if "expands" not in expression:  # whose result a wider scalar of the run widens
        assert ran(computed(expression.format("n")), n=number) == expected


def test_a_lower_bound_beyond_the_range():
    assert ran(computed("pl.tile.minimums(t, -300)")) == [-128] * 4
    assert ran(computed("pl.tile.minimums(t, 300)")) == INT8


@pytest.mark.parametrize(
    ("dtype", "number", "held"), [("INT8", 300, 127), ("UINT8", -1, 0), ("UINT16", -1, 0)]
)
def test_a_literal_that_is_written(dtype, number, held):
    data = [1, 2, 3, 4]
    assert ran([f"pl.write(out, [0, 0], {number})"], dtype, data=data) == [held, 0, 0, 0]
    body = [
        "t = pl.load(x, [0, 0], [1, 4])",
        f"pl.tile.write(t, [0, 1], {number})",
        "out = pl.store(t, [0, 0], out)",
    ]
    assert ran(body, dtype, data=data) == [1, held, 3, 4]


def test_the_first_value_of_a_tensor():
    body = [
        "t = pl.create_tensor([1, 4], dtype=pl.INT8, init_value={})",
        "out = pl.assemble(out, t, [0, 0])",
    ]
    for number, held in ((300.0, 127), (-300.0, -128), (3.0, 3)):
        lines = [line.format(number) for line in body]
        assert ran(lines, kind="Orchestration") == [held] * 4


def test_divisors():
    # 127 and -128 by the number nearest to 300
    assert ran(computed("pl.tile.divs(t, 300)")) == [0, 1, -1, 0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("pl.tile.adds(t, 300)", [49, -85, -84, 44]),
        ("pl.tile.muls(t, 257)", INT8),
        ("pl.tile.ands(t, 255)", INT8),
    ],
)
def test_low_bits_count_in_what_wraps_itself(expression, expected):
    assert ran(computed(expression)) == expected


def test_every_comparison_is_with_the_nearest_number():
    text = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[1, 32], pl.INT8], out: pl.Out[pl.Tensor[[1, 32], pl.UINT8]]):
        t = pl.load(x, [0, 0], [1, 32])
        m = pl.tile.cmps(t, 300, cmp_type=2)
        out = pl.store(m, [0, 0], out)
        return out
"""
    program = pl.parse(text)
    assert isinstance(program, ir.Program)
    namespace: dict = {}
    exec(torch_codegen(program), namespace)
    x, out = torch.arange(96, 128, dtype=torch.int8).reshape(1, 32), torch.zeros(1, 32, dtype=torch.uint8)
    namespace["main"](x, out)
    assert out.tolist()[0][:4] == [255, 255, 255, 127]  # all but 127 itself


def test_a_tensor_is_repeated_into_one_of_a_narrower_dtype():
    text = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, s: pl.Tensor[[1, 2, 4], pl.INT32], x: pl.InOut[pl.Tensor[[3, 2, 4], pl.INT8]]):
        x = pl.expand_clone(s, x)
        return x
"""
    program = pl.parse(text)
    assert isinstance(program, ir.Program)
    assert ir.structural_equal(pl.parse(ir.python_print(program)), program)
    namespace: dict = {}
    exec(torch_codegen(program), namespace)
    x = torch.zeros(3, 2, 4, dtype=torch.int8)
    namespace["main"](torch.tensor([[[300, -300, 1, -1]] * 2], dtype=torch.int32), x)
    assert x.tolist() == [[[127, -128, 1, -1]] * 2] * 3
