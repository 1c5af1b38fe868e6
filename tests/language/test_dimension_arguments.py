"""A scalar parameter of a dimension's name is that dimension, and a call gives each dimension one number."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

BEHIND = """
import pypto.language as pl
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[M, 64], pl.FP32], M: pl.Scalar[pl.INDEX],
          out: pl.Out[pl.Tensor[[M, 64], pl.FP32]]) -> pl.Tensor[[M, 64], pl.FP32]:
        for i in pl.range(M):
            t = pl.load(x, [i, 0], [1, 64])
            out = pl.store(pl.add(t, 1.0), [i, 0], out)
        return out
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[M, 64], pl.FP32], M: pl.Scalar[pl.INDEX],
             out: pl.Out[pl.Tensor[[M, 64], pl.FP32]]) -> pl.Tensor[[M, 64], pl.FP32]:
        out = self.k(x, M, out)
        return out
"""


@pytest.mark.parametrize("text", [BEHIND, BEHIND.replace('M = pl.dynamic("M")\n', "")])
def test_the_scalar_may_stand_behind_the_tensor(text):
    program = pl.parse(text)
    assert isinstance(program, ir.Program)
    kernel = next(function for function in program.functions.values() if function.name == "k")
    assert kernel.params[0].type.shape[0] is kernel.params[1]
    printed = ir.python_print(program)
    again = pl.parse(printed)
    assert ir.structural_equal(again, program) and ir.python_print(again) == printed
    assert ir.python_print(ir.deserialize(ir.serialize(program))) == printed
    namespace: dict = {}
    exec(torch_codegen(program, check_shapes=True), namespace)
    for rows in (3, 5):
        x = torch.arange(rows * 64.0).reshape(rows, 64)
        assert torch.equal(namespace["main"](x, rows, torch.zeros(rows, 64)), x + 1)
    with pytest.raises(ValueError, match="dimension M is 3 in axis 0 of x, and 2 in M"):
        namespace["main"](torch.zeros(3, 64), 2, torch.zeros(3, 64))


CALL = """
import pypto.language as pl
K = pl.dynamic("K")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[K, 16], pl.FP32], y: pl.Tensor[[K, 16], pl.FP32],
               out: pl.Out[pl.Tensor[[8, 16], pl.FP32]]) -> pl.Tensor[[8, 16], pl.FP32]:
        t = pl.load(x, [0, 0], [1, 16])
        out = pl.store(t, [0, 0], out)
        return out
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[4, 16], pl.FP32], b: pl.Tensor[[8, 16], pl.FP32],
             o: pl.Out[pl.Tensor[[8, 16], pl.FP32]]) -> pl.Tensor[[8, 16], pl.FP32]:
        {call}
        return o
"""
CONTRADICTION = (
    "the dimension 'K' of 'kernel' is 4 in 'a', for the parameter 'x', and 8 in 'b', for the parameter 'y'"
)


@pytest.mark.parametrize("call", ["o = self.kernel(a, b, o)", "r, task = pl.submit(self.kernel, a, b, o)"])
def test_a_call_gives_a_dimension_one_number(call):
    with pytest.raises(pl.ParserTypeError, match=CONTRADICTION):
        pl.parse(CALL.format(call=call))
    pl.parse(CALL.format(call=call.replace("a, b", "b, b")))


def test_a_number_for_the_scalar_is_the_dimension_too():
    head, _, main = BEHIND.partition("def main")
    main = main.replace("[M, 64]", "[3, 64]").replace(" M: pl.Scalar[pl.INDEX],", "")
    text = f"{head}def main{main}"
    pl.parse(text.replace("self.k(x, M, out)", "self.k(x, 3, out)"))
    with pytest.raises(pl.ParserTypeError, match="the dimension 'M' of 'k' is 3 in 'x'.* and 2 in '2'"):
        pl.parse(text.replace("self.k(x, M, out)", "self.k(x, 2, out)"))
