"""Matrix and vector of the broadcasts: the vector is the second operand, and it fits or is refused."""

from typing import Any

import pytest
import torch
from ops.calls.operands import D, built, tensor, tile, type_text

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.language.diagnostics import InvalidOperationError
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.calls import OpCallError

FORMS = ("", "_add", "_sub", "_mul", "_div", "_max", "_min", "_expdif")
ROWS = [f"row_expand{form}" for form in FORMS]
COLUMNS = [f"col_expand{form}" for form in FORMS]
SPELLINGS = [(f"pl.{kind}.{op}", kind) for op in ROWS + COLUMNS for kind in ("tensor", "tile")]
SPELLINGS += [(f"pl.{op}", kind) for op in ROWS + COLUMNS for kind in ("tensor", "tile")]


def value(kind: str, *shape: Any, name: str = "x") -> ir.Var:
    return tensor(*shape, name=name) if kind == "tensor" else tile(*shape, name=name)


def parts(spelling: str, kind: str) -> tuple[ir.Var, ir.Var, str, str]:
    """A matrix, a vector that fits it, and what the op calls both."""
    op = spelling.rpartition(".")[2]
    matrix_name, vector_name = load_table()[f"{kind}.{op}"].operand_names[:2]
    vector = (16, 1) if op in ROWS else (1, 32)
    return value(kind, 16, 32), value(kind, *vector, name="v"), matrix_name, vector_name


@pytest.mark.parametrize(("spelling", "kind"), SPELLINGS, ids=str)
def test_a_matrix_and_its_vector_give_the_matrix_s_shape(spelling: str, kind: str) -> None:
    matrix, vector, _, _ = parts(spelling, kind)
    found = built(spelling, matrix, vector).type
    assert isinstance(found, (ir.TensorType, ir.TileType))
    assert [extent.value for extent in found.shape] == [16, 32]


@pytest.mark.parametrize(("spelling", "kind"), SPELLINGS, ids=str)
def test_swapped_operands_are_told(spelling: str, kind: str) -> None:
    matrix, vector, matrix_name, vector_name = parts(spelling, kind)
    with pytest.raises(OpCallError) as caught:
        built(spelling, vector, matrix)
    found = str(caught.value)
    assert f"the operand {vector_name!r} is {type_text(matrix)}" in found
    assert f"and {matrix_name!r} is {type_text(vector)}" in found
    assert f"{vector_name!r} is the vector" in found
    assert "they are swapped" in found


@pytest.mark.parametrize(("spelling", "kind"), SPELLINGS, ids=str)
@pytest.mark.parametrize("wrong", [(8, 1), (1, 16), (2, 2), (16,), (32,)], ids=str)
def test_a_vector_that_does_not_fit_is_refused(spelling: str, kind: str, wrong: tuple[int, ...]) -> None:
    matrix, _, _, vector_name = parts(spelling, kind)
    with pytest.raises(OpCallError, match=f"{vector_name!r} is the vector") as caught:
        built(spelling, matrix, value(kind, *wrong))
    assert "swapped" not in str(caught.value)


@pytest.mark.parametrize("dtype", [D.FP32, D.FP16])
def test_a_row_addition_of_tiles_takes_a_block_of_each_row(dtype: D) -> None:
    columns = 256 // dtype.get_bit()
    found = built("pl.row_expand_add", tile(16, 64, dtype=dtype), tile(16, columns, dtype=dtype))
    assert [extent.value for extent in found.type.shape] == [16, 64]
    with pytest.raises(OpCallError, match="a column of as many rows, or 32 bytes for each row"):
        built("pl.row_expand_add", tile(16, 64, dtype=dtype), tile(16, 2 * columns, dtype=dtype))


def test_extents_of_the_run_decide_at_run_time() -> None:
    rows, others = (ir.Var(name, ir.ScalarType(D.INDEX), ir.Span.unknown()) for name in "nm")
    built("pl.tensor.row_expand_sub", tensor(rows, 32), tensor(others, 1))
    with pytest.raises(OpCallError, match="'row_vec' is the vector"):
        built("pl.tensor.row_expand_sub", tensor(rows, 1), tensor(rows, 32))


@pytest.mark.parametrize("shape", [(1, 8, 32), (4, 1, 32), (4, 8, 1), (4, 8, 32)], ids=str)
def test_a_clone_repeats_one_axis(shape: tuple[int, ...]) -> None:
    assert built("pl.expand_clone", tensor(*shape), tensor(4, 8, 32)).type.shape[2].value == 32


@pytest.mark.parametrize("shape", [(2, 8, 32), (1, 1, 32), (8, 32), (4, 16, 32)], ids=str)
def test_a_clone_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(OpCallError, match="equal but for one on which the first has one element"):
        built("pl.expand_clone", tensor(*shape), tensor(4, 8, 32))


TEXT = """import pypto.language as pl

@pl.function(type=pl.FunctionType.Orchestration)
def f(c: pl.Tensor[[16, 1], pl.FP32], x: pl.Tensor[[16, 32], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.row_expand_sub(c, x)
    return t
"""


def test_the_error_stands_where_the_call_is_written() -> None:
    with pytest.raises(InvalidOperationError) as caught:
        pl.parse(TEXT)
    assert str(caught.value) == (
        "error[E300]: tensor.row_expand_sub: the operand 'row_vec' is pl.Tensor[[16, 32], pl.FP32] and "
        "'tensor' is pl.Tensor[[16, 1], pl.FP32], and 'row_vec' is the vector, which must be a column of as "
        "many rows: they are swapped\n"
        "  --> <string>:6:13\n"
        "   |\n"
        " 6 |         t = pl.row_expand_sub(c, x)\n"
        "   |             ^"
    )


@pytest.mark.parametrize("rows", ["16", "n"])
def test_a_call_that_is_read_fails_the_check_of_shapes(rows: str) -> None:
    """The type that a dump states is the first operand's; what the script computes is wider."""
    c, x, out = (f"pl.Tensor[[{rows}, {columns}], pl.FP32]" for columns in (1, 32, 32))
    program = pl.parse(
        "# pypto.program: P\nimport pypto.language as pl\nn = pl.dynamic('n')\n@pl.program\nclass P:\n"
        f"    @pl.function(type=pl.FunctionType.InCore)\n    def f(c: {c}, x: {x}) -> {out}:\n"
        f"        t: {c} = pl.tensor.row_expand_sub(c, x)\n        return t\n"
    )
    scope: dict[str, Any] = {}
    exec(torch_codegen(program, check_shapes=True), scope)
    with pytest.raises(ValueError, match=r"t: got shape \[16, 32\], expected \[(16|any), 1\]"):
        scope["f"](torch.ones(16, 1), torch.ones(16, 32))
