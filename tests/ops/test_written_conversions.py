"""What is written into a target of another dtype is rounded; integers saturate in it."""

import math

import pytest
import torch
from codegen.builders import U, assign, evaluate_body, load, op, ret, store, tensor, tile
from ops.sampled import DTYPES

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

RANGES = {
    "INT4": (-8, 7), "UINT4": (0, 15), "INT8": (-128, 127), "UINT8": (0, 255), "INT16": (-(2**15), 2**15 - 1),
    "UINT16": (0, 2**16 - 1), "INT32": (-(2**31), 2**31 - 1), "UINT32": (0, 2**32 - 1),
    "INT64": (-(2**63), 2**63 - 1), "UINT64": (0, 2**64 - 1),
}  # fmt: skip
FLOATS = [300.0, -300.0, 2.5, 3.5, -0.5, 0.75, 1e30, -1e30, math.nan, math.inf, -math.inf, 70000.0, 0.0, 5e9]
SOURCES = ["FP32", "INT32", "UINT32", "INT64", "UINT64", "INT16", "UINT16", "INT8", "UINT8", "BF16"]
PAIRS = [(source, target) for source in SOURCES for target in RANGES if source != target]


def integer(value, target):
    """The number in a cell of an integer dtype, worked out with Python's integers."""
    lowest, highest = RANGES[target]
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return highest if value > 0 else lowest
    return min(max(round(value), lowest), highest)


def numbers_of(dtype):
    if dtype in ("FP32", "BF16"):
        return torch.tensor(FLOATS).to(DTYPES[dtype])
    lowest, highest = RANGES[dtype]
    ends = [lowest, lowest + 1, -1, 0, 1, 7, 8, 127, 128, 255, 256, 300, -300, highest - 1, highest]
    kept = [value for value in ends if lowest <= value <= highest]
    return torch.tensor(kept, dtype=DTYPES[dtype])


def stored(name, source, target, data, **keywords):
    """A row of numbers written into zeros of another dtype."""
    count = len(data)
    dtypes = [getattr(ir.DataType, dtype) for dtype in (source, target)]
    x, out = tensor("x", [1, count], dtypes[0]), tensor("out", [1, count], dtypes[1])
    t, held = tile("t", [1, count], dtypes[0]), tile("held", [1, count], dtypes[1])
    if name == "tensor.assemble":
        body = [ret(op(name, [out, x, [0, 0]], out.type, **keywords))]
    elif name == "tile.assemble":
        joined = op(name, [held, t, [0, 0]], held.type)
        body = [
            assign(t, load(x, [0, 0], [1, count])),
            assign(held, load(out, [0, 0], [1, count])),
            ret(store(joined, [0, 0], out)),
        ]
    else:
        body = [
            assign(t, load(x, [0, 0], [1, count])),
            ret(op("tile.store", [t, [0, 0], out], out.type, **keywords)),
        ]
    zeros = torch.zeros(1, count, dtype=DTYPES[target])
    return evaluate_body(*body, args=[(x, data.reshape(1, -1)), (out, zeros)])[0].tolist()


@pytest.mark.parametrize("name", ["tile.store", "tile.assemble", "tensor.assemble"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_pair(source, target, name):
    data = numbers_of(source)
    assert stored(name, source, target, data) == [integer(value, target) for value in data.tolist()]


@pytest.mark.parametrize("name", ["tile.store", "tensor.assemble"])
@pytest.mark.parametrize(("source", "target"), [("FP32", "INT8"), ("INT32", "INT16"), ("FP32", "INT32")])
def test_atomic_additions(source, target, name):
    data = numbers_of(source)
    got = stored(name, source, target, data, atomic=ir.AtomicType.Add)
    assert got == [integer(value, target) for value in data.tolist()]


@pytest.mark.parametrize("target", ["FP8E4M3FN", "FP8E5M2"])
def test_narrow_floats_saturate(target):
    dtypes = [ir.DataType.FP32, getattr(ir.DataType, target)]
    x, out, t = tensor("x", [1, 4]), tensor("out", [1, 4], dtypes[1]), tile("t", [1, 4])
    body = [assign(t, load(x, [0, 0], [1, 4])), ret(op("tile.store", [t, [0, 0], out], out.type))]
    data = torch.tensor([[1e9, -1e9, 1.0625, 1.1875]])
    got = (
        evaluate_body(*body, args=[(x, data), (out, torch.zeros(1, 4).to(DTYPES[target]))])
        .float()[0]
        .tolist()
    )
    largest = {"FP8E4M3FN": 448.0, "FP8E5M2": 57344.0}[target]
    ties = {"FP8E4M3FN": [1.0, 1.25], "FP8E5M2": [1.0, 1.25]}[target]
    assert got == [largest, -largest, *ties]


@pytest.mark.parametrize("level", ["tile", "tensor"])
@pytest.mark.parametrize("value", [2.5, 3.5, -0.6, 300.0, -1e30, math.nan, math.inf])
def test_a_number_of_the_run_is_written_so(value, level):
    number = ir.Var("number", ir.ScalarType(ir.DataType.FP32), U)
    out, t = tensor("out", [1, 2], ir.DataType.INT8), tile("t", [1, 2], ir.DataType.INT8)
    if level == "tensor":
        body = [ret(op("tensor.write", [out, [0, 1], number], out.type))]
    else:
        written = op("tile.write", [t, [0, 1], number], t.type)
        body = [assign(t, load(out, [0, 0], [1, 2])), ret(store(written, [0, 0], out))]
    got = evaluate_body(*body, args=[(number, value), (out, torch.zeros(1, 2, dtype=torch.int8))])
    assert got.tolist() == [[0, integer(value, "INT8")]]


@pytest.mark.parametrize("value", [300, -300, 5])
def test_a_wider_integer_of_the_run_is_written_so(value):
    number = ir.Var("number", ir.ScalarType(ir.DataType.INT32), U)
    out = tensor("out", [1, 2], ir.DataType.INT8)
    body = [ret(op("tensor.write", [out, [0, 1], number], out.type))]
    got = evaluate_body(*body, args=[(number, value), (out, torch.zeros(1, 2, dtype=torch.int8))])
    assert got.tolist() == [[0, integer(value, "INT8")]]


def test_the_language_accepts_a_store_into_a_narrower_tensor():
    text = """\
import pypto.language as pl

@pl.program
class Narrower:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[1, 4], pl.FP32], out: pl.Out[pl.Tensor[[1, 4], pl.INT8]]
    ) -> pl.Tensor[[1, 4], pl.INT8]:
        t = pl.load(x, [0, 0], [1, 4])
        out = pl.store(t, [0, 0], out)
        return out
"""
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    got = namespace["kernel"](
        torch.tensor([[300.0, -2.5, math.nan, 1.5]]), torch.zeros(1, 4, dtype=torch.int8)
    )
    assert got.tolist() == [[127, -2, 0, 2]]
