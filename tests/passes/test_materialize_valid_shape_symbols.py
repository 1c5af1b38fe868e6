"""MaterializeValidShapeSymbols: extents that only valid parts name."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes

PASS = "MaterializeValidShapeSymbols"
T = "pl.Tensor[[16, 64], pl.FP32]"


def part(rows: str, columns: str) -> str:
    view = f"valid_shape=[{rows}, {columns}], stride=[64, 1], layout=pl.TensorLayout.ND"
    return f"pl.Tensor[[16, 64], pl.FP32, pl.TensorView({view})]"


def program(x: str, y: str, first: str, second: str) -> ir.Program:
    """A kernel of two parameters, and its call with two slices of these valid parts."""
    return pl.parse(f"""
import pypto.language as pl
LEN = pl.dynamic("LEN")
DIM = pl.dynamic("DIM")

@pl.program
class p:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: {x}, y: {y}, z: pl.Tensor[[DIM, 64], pl.FP32], out: pl.Out[{T}]) -> {T}:
        done = pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], out)
        return done
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: {T}, z: pl.Tensor[[DIM, 64], pl.FP32], n: pl.Scalar[pl.INDEX], m: pl.Scalar[pl.INDEX],
             out: pl.Out[{T}]) -> {T}:
        one = pl.slice(a, [16, 64], [0, 0], valid_shape={first})
        two = pl.slice(a, [16, 64], [0, 0], valid_shape={second})
        r = self.kernel(one, two, z, out)
        return r
""")


def called(node: ir.Program) -> str:
    text = ir.python_print(passes.make_pass(PASS)(node), format=False)
    return next(line.partition(" = ")[2] for line in text.splitlines() if "self.kernel(" in line)


def test_a_symbol_becomes_the_first_parameter_and_calls_give_the_valid_extent():
    node = program(part("16", "LEN"), T, "[16, n]", "[16, 64]")
    assert called(node) == "self.kernel(n, one, two, z, out)"
    kernel = passes.make_pass(PASS)(node).get_function("kernel")
    assert [param.name_hint for param in kernel.params] == ["LEN", "x", "y", "z", "out"]
    assert kernel.params[0] is kernel.params[1].type.tensor_view.valid_shape[1]
    assert kernel.param_directions[0] is ir.ParamDirection.In


def test_a_symbol_of_two_parameters_is_given_once():
    node = program(part("LEN", "64"), part("16", "LEN"), "[n, 64]", "[16, n]")
    assert called(node) == "self.kernel(n, one, two, z, out)"


def test_constants_are_given_too():
    assert called(program(part("16", "LEN"), T, "[16, 32]", "[16, 64]")).startswith("self.kernel(32, one,")


def test_a_symbol_that_a_dimension_tells_stays():
    node = program(part("DIM", "64"), T, "[n, 64]", "[16, 64]")
    assert passes.make_pass(PASS)(node) is node


def test_contradictory_extents_are_refused():
    node = program(part("LEN", "64"), part("16", "LEN"), "[n, 64]", "[16, m]")
    with pytest.raises(passes.PassError) as caught:
        passes.make_pass(PASS)(node)
    text = str(caught.value)
    assert "the call of 'kernel' gives 'LEN' contradictory values: n and m" in text
    assert "'main'" in text and ":17:" in text


def test_an_expression_alone_does_not_tell_a_symbol():
    node = program(part("16", "LEN * 2"), T, "[16, n]", "[16, 64]")
    with pytest.raises(passes.PassError) as caught:
        passes.make_pass(PASS)(node)
    assert "'LEN' is part of a valid extent of 'x' only in an expression" in str(caught.value)
    assert "'kernel'" in str(caught.value)


def test_the_shape_of_a_tensor_that_is_valid_as_a_whole_needs_no_symbol():
    """``rows`` of a pool of blocks: the extent is an expression, and nothing says that less is valid."""
    node = program("pl.Tensor[[LEN * 16, 64], pl.FP32]", T, "[16, n]", "[16, 64]")
    assert passes.make_pass(PASS)(node) is node
