"""An index below 0 is none: Python's counting from the end is not the language's."""

import pytest
import torch
from codegen.builders import (
    INDEX,
    U,
    assign,
    body_text,
    evaluate_body,
    for_loop,
    load,
    numbers,
    op,
    ret,
    scalar,
    tensor,
    tile,
)

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import load_table

HEAD = """\
import pypto.language as pl

@pl.program
class Element:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[4, 8], pl.FP32], r: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]
    ) -> pl.Tensor[[4, 8], pl.FP32]:
        t = pl.load(x, [0, 0], [4, 8])
"""
READS = [
    "pl.read(x, [0, {}])",
    "pl.tensor.read(x, [{}, 0])",
    "x[0, {}]",
    "x[{}, 0]",
    "pl.tile.read(t, [0, {}])",
    "t[{}, 0]",
]
WRITES = ["pl.write(t, [0, {}], 5.0)", "pl.tile.write(t, [{}, 0], 5.0)"]


def kernel(line):
    text = HEAD + f"        {line}\n        out = pl.store(t, [0, 0], out)\n        return out\n"
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    return namespace["kernel"]


@pytest.mark.parametrize("form", READS + WRITES)
def test_a_runtime_index_below_zero_is_an_error(form):
    index = form.format("r - 3")
    line = f"t = {index}" if form in WRITES else f"v = {index}\n        t = pl.write(t, [1, 1], v)"
    run = kernel(line)
    for r in (3, 6):
        run(numbers(4, 8), r, torch.zeros(4, 8))
    for r in (2, 0):
        with pytest.raises(
            IndexError, match=rf"index \[.*{r - 3}.*\] is negative: it is none of a tensor of \[4, 8\]"
        ):
            run(numbers(4, 8), r, torch.zeros(4, 8))


@pytest.mark.parametrize("index", ["-1", "1 - 2", "8"])
@pytest.mark.parametrize("form", READS + WRITES)
def test_a_constant_index_outside_is_refused_where_it_is_written(form, index):
    with pytest.raises(pl.parser.ParserError) as caught:
        kernel(f"v = {form.format(index)}")
    assert ":10:" in str(caught.value)


def test_every_op_that_takes_an_index_is_looked_at():
    taking = {
        name
        for name, entry in load_table().items()
        if "indices" in entry.operand_names
        and any(operand.name == "indices" and operand.kind == "tuple" for operand in entry.operands)
    }
    assert taking == {"tensor.read", "tensor.write", "tile.read", "tile.write"}


@pytest.mark.parametrize("name", ["tensor.read", "tile.read"])
def test_a_negative_constant_of_a_dump_is_an_error_when_it_runs(name):
    x, t = tensor("x", [4, 8]), tile("t", [4, 8])
    source = x if name.startswith("tensor") else t
    number = op(name, [source, [0, -1]], ir.ScalarType(ir.DataType.FP32))
    with pytest.raises(IndexError, match=r"index \[0, -1\]"):
        evaluate_body(assign(t, load(x, [0, 0], [4, 8])), ret(number), args=[(x, numbers(4, 8))])


@pytest.mark.parametrize(
    ("index", "is_plain"),
    [
        (lambda i, n: i, True),
        (lambda i, n: ir.Mul(i, ir.ConstInt(2, INDEX, U), INDEX, U), True),
        (lambda i, n: ir.Add(i, ir.ConstInt(1, INDEX, U), INDEX, U), True),
        (lambda i, n: ir.FloorMod(n, ir.ConstInt(4, INDEX, U), INDEX, U), True),
        (lambda i, n: ir.Max(n, ir.ConstInt(0, INDEX, U), INDEX, U), True),
        (lambda i, n: ir.Sub(i, ir.ConstInt(1, INDEX, U), INDEX, U), False),
        (lambda i, n: n, False),
        (lambda i, n: ir.FloorDiv(i, n, INDEX, U), False),
    ],
)  # fmt: skip
def test_what_cannot_be_negative_is_read_plainly(index, is_plain):
    x, n, i, v = tensor("x", [8]), scalar("n"), scalar("i"), scalar("v", ir.DataType.FP32)
    read = op("tensor.read", [x, [index(i, n)]], v.type)
    text = body_text(for_loop(i, 4, assign(v, read)), params=[x, n])
    assert ("_element" not in text) == is_plain
