"""Arguments of functions that contradict the types of their parameters are refused at the call."""

import pytest
import torch

import pypto_tmpl.language as pl

HEAD = """
import pypto.language as pl
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INT32], f: pl.Scalar[pl.FP32],
          o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        t = pl.load(a, [0, 0], [16, 64])
        return pl.store(pl.mul(t, f), [0, 0], o)

    @pl.function(type=pl.FunctionType.InCore)
    def rows(self, a: pl.Tensor[[M, 64], pl.FP32]) -> pl.Tensor[[M, 64], pl.FP32]:
        return a

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], h: pl.Tensor[[16, 64], pl.BF16],
             s: pl.Tensor[[8, 64], pl.FP32], i: pl.Scalar[pl.INDEX], g: pl.Scalar[pl.FP32],
             out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
"""
TAIL = "        return out\n"


def read(statement: str) -> object:
    return pl.parse(f"{HEAD}        {statement}\n{TAIL}")


@pytest.mark.parametrize("form", ["out = self.k({})", "out, tid = pl.submit(self.k, {})",
                                  "out, tid = pl.spmd_submit(self.k, {}, core_num=2)"])  # fmt: skip
@pytest.mark.parametrize(
    ("arguments", "argument", "given", "name", "wanted"),
    [
        ("h, 1, 2.0, out", "h", "pl.Tensor[[16, 64], pl.BF16]", "a", "pl.Tensor[[16, 64], pl.FP32]"),
        ("s, 1, 2.0, out", "s", "pl.Tensor[[8, 64], pl.FP32]", "a", "pl.Tensor[[16, 64], pl.FP32]"),
        (
            "x[0:8, :], 1, 2.0, out",
            "x[0:8, :]",
            "pl.Tensor[[8, 64], pl.FP32]",
            "a",
            "pl.Tensor[[16, 64], pl.FP32]",
        ),
        ("x, 1, 2.0, s", "s", "pl.Tensor[[8, 64], pl.FP32]", "o", "pl.Tensor[[16, 64], pl.FP32]"),
        ("x, 1.5, 2.0, out", "1.5", "pl.Scalar[pl.FP32]", "n", "pl.Scalar[pl.INT32]"),
        ("x, g, 2.0, out", "g", "pl.Scalar[pl.FP32]", "n", "pl.Scalar[pl.INT32]"),
        ("x, 1, i, out", "i", "pl.Scalar[pl.INDEX]", "f", "pl.Scalar[pl.FP32]"),
        ("x, out, 2.0, out", "out", "pl.Tensor[[16, 64], pl.FP32]", "n", "pl.Scalar[pl.INT32]"),
        ("1, 1, 2.0, out", "1", "pl.Scalar[pl.INDEX]", "a", "pl.Tensor[[16, 64], pl.FP32]"),
    ],
)
def test_a_contradicting_argument_is_named_with_both_types(form, arguments, argument, given, name, wanted):
    with pytest.raises(pl.ParserTypeError) as caught:
        read(form.format(arguments))
    message = f"{argument!r} is {given}, and the parameter {name!r} of 'k' is {wanted}"
    assert caught.value.message == message
    line = form.format(arguments)
    assert caught.value.span["column"] == 9 + line.index(argument, line.index("self.k") + 6)


@pytest.mark.parametrize(
    "arguments", ["x, 1, 2.0, out", "x, i, g, out", "x, 1, 2, out", "x, pl.const(1, pl.INT64), g, out"]
)
def test_numbers_of_one_kind_fit(arguments):
    assert read(f"out = self.k({arguments})")


def test_a_dynamic_extent_takes_any():
    assert read("y = self.rows(s)")
    with pytest.raises(pl.ParserTypeError, match="the parameter 'a' of 'rows'"):
        read("y = self.rows(h)")
    with pytest.raises(pl.ParserTypeError, match="the parameter 'a' of 'rows'"):
        read("y = self.rows(x[:, 0:32])")


def test_the_order_of_arguments_is_checked_where_types_tell():
    with pytest.raises(pl.ParserTypeError, match="'out' is .*, and the parameter 'n' of 'k'"):
        read("out = self.k(x, out, 1, 2.0)")


# JIT functions: a parameter that is annotated is what its annotation says.


@pl.jit.incore
def halves(v: pl.Tensor[[8, 16], pl.BF16], out: pl.Out[pl.Tensor]):
    out[:, :] = pl.cast(v, target_type=pl.FP32)
    return out


@pl.jit.inline
def doubled(v: pl.Tensor[[8, 16], pl.FP32]):
    return pl.mul(v, 2.0)


@pl.jit
def calls_incore(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out = halves(x, out)
    return out


@pl.jit
def calls_by_keyword(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out = halves(out=out, v=x)
    return out


@pl.jit
def calls_inline(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = doubled(x)
    return out


@pl.jit
def calls_with_a_local(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = doubled(pl.cast(x, target_type=pl.BF16))
    return out


@pytest.mark.parametrize("kernel", [calls_incore, calls_by_keyword])
def test_a_kernel_is_not_made_for_another_dtype(kernel):
    x, out = torch.ones(8, 16), torch.zeros(8, 16)
    with pytest.raises(pl.ParserTypeError) as caught:
        kernel(x, out)
    assert caught.value.message == (
        "'x' is pl.Tensor[[8, 16], pl.FP32], and the parameter 'v' of 'halves' is declared as "
        "pl.Tensor[[8, 16], pl.BF16]"
    )
    kernel(x.bfloat16() * 3, out)
    assert (out == 3).all()


def test_a_helper_is_not_made_for_another_shape_or_dtype():
    out = torch.zeros(8, 16)
    calls_inline(torch.ones(8, 16), out)
    assert (out == 2).all()
    with pytest.raises(pl.ParserTypeError, match=r"'x' is pl.Tensor\[\[4, 16\], pl.FP32\], and .* 'doubled'"):
        calls_inline(torch.ones(4, 16), torch.zeros(4, 16))
    with pytest.raises(pl.ParserTypeError, match=r"'pl.cast\(.*\)' is pl.Tensor\[\[8, 16\], pl.BF16\]"):
        calls_with_a_local(torch.ones(8, 16), out)
