"""A float literal beside 16-bit floats: FP32 for a tensor, which it promotes; a tile keeps its dtype."""

import pytest
import torch
from ops.calls.operands import S, built, tensor, tile

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

D = ir.DataType
NARROW = {D.FP16: torch.float16, D.BF16: torch.bfloat16}
PROMOTING = ("add", "mul", "div", "fmod", "maximum", "minimum")


@pytest.mark.parametrize("dtype", NARROW, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", PROMOTING)
def test_a_float_literal_promotes_a_tensor(op, dtype):
    call = built(f"pl.{op}", tensor(16, 64, dtype=dtype), 0.5)
    assert call.args[1].dtype == D.FP32
    assert call.type.dtype == D.FP32


@pytest.mark.parametrize("dtype", NARROW, ids=lambda dtype: dtype.name)
def test_a_difference_keeps_the_dtype_of_its_tensor(dtype):
    call = built("pl.sub", tensor(16, 64, dtype=dtype), 0.5)
    assert (call.args[1].dtype, call.type.dtype) == (D.FP32, dtype)


@pytest.mark.parametrize("dtype", NARROW, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", [*PROMOTING, "sub", "expands", "lrelu"])
def test_a_float_literal_leaves_a_tile_as_it_is(op, dtype):
    assert built(f"pl.{op}", tile(16, 64, dtype=dtype), 0.5).type.dtype == dtype


@pytest.mark.parametrize("op", ["addsc", "subsc"])
def test_a_sum_of_three_keeps_the_dtype_of_its_tiles(op):
    half = tile(16, 64, dtype=D.BF16)
    assert built(f"pl.{op}", half, 0.5, half).type.dtype == D.BF16


@pytest.mark.parametrize("number", [2, ir.ConstInt(2, D.INT32, S)], ids=["bare", "typed"])
def test_an_integer_literal_does_not_promote(number):
    assert built("pl.mul", tensor(16, 64, dtype=D.FP16), number).type.dtype == D.FP16


def test_a_typed_constant_keeps_its_dtype():
    call = built("pl.mul", tensor(16, 64, dtype=D.FP16), ir.ConstFloat(0.5, D.FP16, S))
    assert (call.args[1].dtype, call.type.dtype) == (D.FP16, D.FP16)


@pytest.mark.parametrize("op", ["pl.tensor.write", "pl.tile.write"])
def test_a_written_number_has_the_dtype_of_what_it_is_written_to(op):
    target = tensor(16, 64, dtype=D.FP16) if "tensor" in op else tile(16, 64, dtype=D.FP16)
    assert built(op, target, [0, 0], 0.5).args[2].dtype == D.FP16


SOURCE = """
@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.{dtype}], wide: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
             narrow: pl.Out[pl.Tensor[[16, 64], pl.{dtype}]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            wide = pl.assemble(wide, pl.add(pl.mul(x, 0.1), -0.3), [0, 0])
            t = pl.load(x, [0, 0], [16, 64])
            narrow = pl.store(pl.add(pl.mul(t, 0.1), -0.3), [0, 0], narrow)
        return wide, narrow
"""


@pytest.mark.parametrize("dtype", NARROW, ids=lambda dtype: dtype.name)
def test_values_are_computed_in_the_dtype_of_the_result(dtype):
    program = pl.parse(SOURCE.format(dtype=dtype.name))
    namespace: dict = {}
    exec(torch_codegen(program, check_shapes=True), namespace)
    half = NARROW[dtype]
    x = torch.linspace(-7, 7, 1024).reshape(16, 64).to(half)
    wide, narrow = torch.zeros(16, 64), torch.zeros(16, 64, dtype=half)
    namespace["main"](x, wide, narrow)
    assert torch.equal(wide, x.float() * 0.1 + -0.3)
    tenth, third = torch.tensor(0.1, dtype=half), torch.tensor(-0.3, dtype=half)
    assert torch.equal(narrow, x * tenth + third)
    assert not torch.equal(wide, narrow.float())


def test_the_literal_is_printed_bare():
    text = ir.python_print(pl.parse(SOURCE.format(dtype="FP16")), format=False)
    assert "pl.tensor.muls(x, 0.10000000000000001)" in text and "pl.tile.muls(t, 0.10000000000000001)" in text
    assert ir.structural_equal(pl.parse(text), pl.parse(SOURCE.format(dtype="FP16")))
