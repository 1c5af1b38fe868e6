"""Ops in kernels: what a reader of the kernel is told of a wrong operand, and the types of right ones."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

HEAD = """\
import pypto.language as pl

@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 64], pl.FP32], i: pl.Tensor[[16, 64], pl.INT32],
          h: pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec], s: pl.Tile[[16, 64], pl.INT16, pl.Mem.Vec],
          n: pl.Scalar[pl.INDEX]):
"""


def statements(text: str) -> list[ir.Stmt]:
    """The assignments of a kernel with that body."""
    body = "".join(f"        {line}\n" for line in text.splitlines())
    program = pl.parse(HEAD + body + "        return\n", filename="kernel.py")
    function = next(iter(program.functions.values()))
    return [stmt for stmt in function.body.stmts if isinstance(stmt, ir.AssignStmt)]


def types(text: str) -> list[str]:
    return [ir.python_print(stmt.var.type, format=False) for stmt in statements(text)]


def test_a_cast_to_the_same_type_is_refused() -> None:
    with pytest.raises(ValueError) as raised:
        statements("y = pl.cast(x, target_type=pl.FP32)")
    assert isinstance(raised.value, pl.InvalidOperationError)
    assert str(raised.value) == (
        "error[E300]: tensor.cast: the operand 'input' is pl.Tensor[[16, 64], pl.FP32] and "
        "'target_type' is FP32: "
        "they must differ\n"
        "  --> kernel.py:9:13\n"
        "   |\n"
        " 9 |         y = pl.cast(x, target_type=pl.FP32)\n"
        "   |             ^"
    )


def test_a_bare_number_does_not_retype_a_tensor() -> None:
    found = types("a = pl.add(i, 5)\nb = pl.ands(i, 255)\nc = pl.mul(s, 2)\nd = pl.mul(h, 0.1)")
    assert found == [
        "pl.Tensor[[16, 64], pl.INT32]",
        "pl.Tensor[[16, 64], pl.INT32]",
        "pl.Tile[[16, 64], pl.INT16, pl.Mem.Vec]",
        "pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec]",
    ]


def test_operands_that_do_not_fit_are_told_with_both_types_and_their_place() -> None:
    with pytest.raises(pl.InvalidOperationError) as raised:
        statements("y = pl.exp(x)\nz = pl.add(y, pl.row_sum(pl.tensor.cast(i, pl.FP32)[0:8, :]))")
    assert str(raised.value).startswith(
        "error[E300]: tensor.add: the extents 16 and 8 do not agree: 'lhs' is pl.Tensor[[16, "
        "64], pl.FP32] and "
        "'rhs' is pl.Tensor[[8, 1], pl.FP32]\n"
        "  --> kernel.py:10:13\n"
    )


def test_index_arithmetic_in_extents_is_simplified() -> None:
    found = types("a = x[n : n + 8, 0:64]\nb = pl.add(a, a)\nc = pl.matmul(b, x, b_trans=True)")
    assert found == [
        "pl.Tensor[[8, 64], pl.FP32]",
        "pl.Tensor[[8, 64], pl.FP32]",
        "pl.Tensor[[8, 16], pl.FP32]",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a target valid to [4, 16] grows by what is written right behind it
        ("t = pl.tile.create([8, 16], pl.FP32)\nv = pl.tile.set_validshape(t, 4, 16)\n"
         "q = pl.tile.create([2, 16], pl.FP32)\nr = pl.assemble(v, q, [4, 0])", "valid_shape=[6, 16]"),
        ("t = pl.tile.create([8, 16], pl.FP32)\nv = pl.tile.set_validshape(t, 4, 16)\n"
         "q = pl.tile.create([2, 16], pl.FP32)\nr = pl.assemble(v, q, [2, 0])", "valid_shape=[4, 16]"),
        ("t = pl.tile.create([8, 16], pl.FP32)\nv = pl.tile.set_validshape(t, 0, 0)\n"
         "q = pl.tile.create([2, 16], pl.FP32)\nr = pl.assemble(v, q, [0, 0])", "valid_shape=[2, 16]"),
        # reshapes keep a region that stays whole rows
        ("t = pl.tile.create([4, 32], pl.FP32)\nv = pl.tile.set_validshape(t, 2, 32)\n"
         "r = pl.reshape(v, [8, 16])", "valid_shape=[4, 16]"),
        # reductions
        ("t = pl.tile.create([4, 32], pl.FP32)\nv = pl.tile.set_validshape(t, 2, 20)\n"
         "r = pl.col_max(v)", "valid_shape=[1, 20]"),
        ("t = pl.tile.create([4, 32], pl.FP32)\nv = pl.tile.set_validshape(t, 2, 20)\n"
         "r = pl.row_sum(v, t)", "valid_shape=[2, 1]"),
    ],
)  # fmt: skip
def test_valid_regions(text: str, expected: str) -> None:
    assert expected in types(text)[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t = pl.tile.create([8, 16], pl.FP32)\nv = pl.tile.set_validshape(t, 4, 16)\n"
         "q = pl.tile.create([2, 16], pl.FP32)\nr = pl.assemble(v, q, [6, 0])",
         "the valid region [4, 16] and the part [2, 16] written at [6, 0] are no rectangle together"),
        ("t = pl.tile.create([4, 32], pl.FP32)\nv = pl.tile.set_validshape(t, 2, 20)\n"
         "r = pl.reshape(v, [8, 16])", "the valid elements are no rectangle in the new shape"),
        ("t = pl.tile.create([4, 32], pl.FP32)\nv = pl.tile.set_validshape(t, 0, 20)\nr = pl.row_sum(v, t)",
         "of which nothing is valid"),
    ],
)  # fmt: skip
def test_regions_that_are_no_rectangle_are_refused(text: str, message: str) -> None:
    with pytest.raises(pl.InvalidOperationError) as raised:
        statements(text)
    assert message in str(raised.value)


def test_a_slice_of_a_transpose_reads_the_columns_of_the_source() -> None:
    """Shape, strides and layout of the type are one fact; column 1 holds 1, 5, 9."""
    program = pl.parse("""
import pypto.language as pl

@pl.program
class Turned:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[3, 4], pl.FP32], out: pl.Out[pl.Tensor[[3, 1], pl.FP32]]):
        turned = pl.transpose(x, 0, 1)
        row = pl.slice(turned, [1, 3], [1, 0])
        out = pl.assemble(out, pl.reshape(row, [3, 1]), [0, 0])
        return out
""")
    function = next(iter(program.functions.values()))
    turned = next(stmt.var.type for stmt in function.body.stmts if stmt.var.name_hint == "turned")
    view = "pl.TensorView(stride=[1, 4], layout=pl.TensorLayout.DN)"
    assert ir.python_print(turned, format=False) == f"pl.Tensor[[4, 3], pl.FP32, {view}]"
    namespace: dict = {}
    exec(torch_codegen(program), namespace)
    out = torch.zeros(3, 1)
    namespace["main"](torch.arange(12.0).reshape(3, 4), out)
    assert out.flatten().tolist() == [1, 5, 9]
