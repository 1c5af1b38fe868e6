"""Float literals beyond the range of a narrower dtype are infinite there, in every op that takes one."""

import math
import re

import pytest
import torch
from codegen.builders import U, assign, evaluate_body, op, ret, store, tensor, tile
from ops.sampled import DTYPES, TABLE, emit, made_up, parse, run

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops.typing.words import resolve_result

TOO_LARGE = {
    "FP16": ["-1e30", "65520.0", "100000"],
    "BF16": ["-3.4e38", "1e39"],
    "FP32": ["-3.5e38", "1e300"],
}
NO_NUMBERS = {
    "index", "axis", "axis1", "axis2", "valid_rows", "valid_cols", "extent", "size", "init_cond", "diagonal",
    "start", "index_row", "index_col", "block_len",
}  # fmt: skip


def scalar_operands():
    """(op, operand, sample) of every op that takes a number and computes with floats."""
    for name, entry in TABLE.items():
        for spec in entry.operands:
            if not entry.is_executable or spec.kind != "scalar" or spec.name in NO_NUMBERS:
                continue
            for dtype in ["FP32"] if name == "tile.lrelu" else TOO_LARGE:  # whose slope is an FP32
                if sample := sample_in(entry, spec.name, dtype):
                    yield pytest.param(name, spec.name, sample, dtype, id=f"{name}-{spec.name}-{dtype}")


def sample_in(entry, operand, dtype):
    """The first sample with that operand, its floats of the dtype given; None where there are none."""
    for sample in entry.samples:
        if operand in sample and dtype in entry.dtypes:
            changed = {key: retyped(value, dtype) for key, value in sample.items()}
            if changed != sample or dtype in str(sample):
                return changed
    return None


def retyped(value, dtype):
    if isinstance(value, str) and value in TOO_LARGE:
        return dtype
    return re.sub(r"^(FP32|FP16|BF16)\[", f"{dtype}[", value) if isinstance(value, str) else value


def is_typed(value):
    return isinstance(value, str) and "[" in value


CASES = [*scalar_operands()]


def test_the_ops_that_are_looked_at():
    found = {case.values[0] for case in CASES}
    assert {
        "tile.full",
        "tensor.full",
        "tile.expands",
        "tile.maximums",
        "tile.write",
        "tensor.write",
    } <= found
    assert {"tile.adds", "tile.cmps", "tile.sels", "tile.lrelu", "tensor.gather_compare"} <= found


@pytest.mark.parametrize(("name", "operand", "sample", "dtype"), CASES)
def test_a_literal_out_of_range_is_infinite(name, operand, sample, dtype):
    for literal in TOO_LARGE[dtype]:
        infinite = f'float("{math.copysign(math.inf, float(literal))}")'
        values = [ran(name, {**sample, operand: text}, dtype) for text in (literal, infinite)]
        for got, expected in zip(*values, strict=True):
            assert torch.equal(got.nan_to_num(nan=7.0), expected.nan_to_num(nan=7.0)), (name, literal)


def ran(name, sample, dtype):
    """The tensors that an op gives; what it is given is the same in every call."""
    typed = {key: parse(value) for key, value in sample.items() if is_typed(value)}
    arguments = {key: made_up(value, f"{name} {key}").data for key, value in typed.items()}
    promotes = "promote" in (resolve_result(TABLE[name]).dtype or "")
    value = run(emit(name, sample, result_dtype=dtype if promotes else None), arguments)
    return [part.float() for part in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize(("dtype", "literal"), [(d, t) for d, texts in TOO_LARGE.items() for t in texts])
def test_through_the_language(dtype, literal):
    text = f"""\
import pypto.language as pl

@pl.program
class Infinite:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[4, 8], pl.{dtype}], out: pl.Out[pl.Tensor[[4, 8], pl.{dtype}]]
    ) -> pl.Tensor[[4, 8], pl.{dtype}]:
        t = pl.tile.full([4, 8], dtype=pl.{dtype}, value={literal})
        u = pl.maximum(t, pl.expands(t, {literal}))
        u = pl.maximums(u, {literal})
        w = pl.write(u, [0, 0], {literal})
        out = pl.store(w, [0, 0], out)
        return out
"""
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    out = namespace["kernel"](torch.zeros(4, 8, dtype=DTYPES[dtype]), torch.zeros(4, 8, dtype=DTYPES[dtype]))
    assert (out.float() == math.copysign(math.inf, float(literal))).all()


LARGEST = {"FP32": 2.0**128 - 2.0**104, "FP16": 65504.0, "BF16": 2.0**128 - 2.0**120}
BETWEEN = [  # less than half an ulp beyond the largest number, which the literal is rounded to
    ("FP32", "3.4028235e38"), ("FP32", "-3.4028235e38"), ("FP32", "-3.4028235677e38"),
    ("FP16", "65505.0"), ("FP16", "65519"), ("FP16", "-65519.9"),
    ("BF16", "3.39e38"), ("BF16", "-3.3959e38"),
]  # fmt: skip
BEYOND = [("FP32", "3.4028235678e38"), ("FP16", "-65520.0"), ("BF16", "3.3962e38")]


def filled(dtype, literal):
    """What fills, bounds and writes make of a literal, through the language."""
    sign = "minimums" if literal.startswith("-") else "maximums"
    text = f"""\
import pypto.language as pl

@pl.program
class Between:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[1, 8], pl.{dtype}], y: pl.Out[pl.Tensor[[5, 8], pl.{dtype}]]
    ) -> pl.Tensor[[5, 8], pl.{dtype}]:
        t = pl.load(x, [0, 0], [1, 8])
        y = pl.store(pl.tile.full([1, 8], dtype=pl.{dtype}, value={literal}), [0, 0], y)
        y = pl.store(pl.expands(t, {literal}), [1, 0], y)
        y = pl.store(pl.tile.{sign}(t, {literal}), [2, 0], y)
        w = pl.write(pl.tile.full([1, 8], dtype=pl.{dtype}, value={literal}), [0, 0], {literal})
        y = pl.store(w, [3, 0], y)
        y = pl.assemble(y, pl.tensor.full([1, 8], dtype=pl.{dtype}, value={literal}), [4, 0])
        return y
"""
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    return namespace["kernel"](torch.zeros(1, 8, dtype=DTYPES[dtype]), torch.zeros(5, 8, dtype=DTYPES[dtype]))


@pytest.mark.parametrize(("dtype", "literal"), BETWEEN)
def test_a_literal_is_rounded_before_it_is_judged(dtype, literal):
    assert (filled(dtype, literal).double() == math.copysign(LARGEST[dtype], float(literal))).all()


@pytest.mark.parametrize(("dtype", "literal"), BEYOND)
def test_from_half_an_ulp_on_a_literal_is_infinite(dtype, literal):
    assert (filled(dtype, literal).double() == math.copysign(math.inf, float(literal))).all()


@pytest.mark.parametrize(("dtype", "literal"), BETWEEN)
@pytest.mark.parametrize("name", ["tensor.create", "tile.full", "tensor.full"])
def test_a_new_buffer_of_a_literal_that_is_rounded(name, dtype, literal):
    sample = {"shape": [2, 2], "dtype": dtype, "init_value" if name == "tensor.create" else "value": literal}
    if name == "tensor.create":
        sample["init_value"] = float(literal)
    value = run(emit(name, sample), {})
    assert (value.double() == math.copysign(LARGEST[dtype], float(literal))).all()


def test_a_number_of_the_run_that_fills_a_narrower_buffer():
    x, t, n = (
        tensor("x", [2, 2], ir.DataType.FP16),
        tile("t", [2, 2], ir.DataType.FP16),
        ir.Var("n", ir.ScalarType(ir.DataType.FP32), U),
    )
    body = [assign(t, op("tile.full", [[2, 2], n], t.type, dtype=ir.DataType.FP16)), ret(store(t, [0, 0], x))]
    out = evaluate_body(*body, args=[(n, -1e30), (x, torch.zeros(2, 2, dtype=torch.float16))])
    assert (out == -math.inf).all()


def test_a_literal_within_the_range_stays_as_it_is():
    assert emit("tile.full", {"shape": [2, 2], "value": "-1e30", "dtype": "FP32"}) == (
        "torch.full([2, 2], -1e30, dtype=torch.float32)"
    )
    assert "65504" in emit("tile.full", {"shape": [2, 2], "value": "65504", "dtype": "FP16"})
