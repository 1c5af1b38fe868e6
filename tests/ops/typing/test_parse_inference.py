"""Result types of calls whose type the text does not print, from the words of the op table."""

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ops import OpEntry, OperandSpec, ResultSpec
from pypto_tmpl.ops.typing import InferenceError, Operands
from pypto_tmpl.ops.typing.dtypes import DTYPES
from pypto_tmpl.ops.typing.regions import VALID_REGIONS
from pypto_tmpl.ops.typing.shapes import SHAPES
from pypto_tmpl.ops.typing.words import DTYPE_RULES, SHAPE_RULES, VALID_RULES

S = ir.Span.unknown()
D, Mem = ir.DataType, ir.MemorySpace
N = ir.Var("n", ir.ScalarType(D.INDEX), S)

OPERANDS = {
    "x": "pl.Tensor[[16, 64], pl.FP32]",
    "h": "pl.Tensor[[16, 64], pl.BF16]",
    "i": "pl.Tensor[[16, 64], pl.INT8]",
    "col": "pl.Tensor[[16, 1], pl.FP32]",
    "row": "pl.Tensor[[1, 64], pl.FP32]",
    "w": "pl.Tensor[[64, 32], pl.FP32]",
    "wt": "pl.Tensor[[32, 64], pl.BF16]",
    "v": "pl.Tensor[[16, 64], pl.FP32, pl.TensorView(valid_shape=[8, 64], layout=pl.TensorLayout.ND)]",
    "t": "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]",
    "left": "pl.Tile[[16, 64], pl.BF16, pl.Mem.Left]",
    "right": "pl.Tile[[64, 32], pl.BF16, pl.Mem.Right]",
    "tv": "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[8, 60])]",
    "n": "pl.Scalar[pl.INDEX]",
}


def type_of(text: str) -> ir.Type:
    params = ", ".join(f"{name}: {spelled}" for name, spelled in OPERANDS.items())
    function = pl.parse(f"import pypto.language as pl\n@pl.function\ndef f({params}):\n    return {text}\n")
    return function.body.value[0].type


def summary(type_: ir.Type) -> tuple:
    """Dtype, shape, valid region and memory space of a type."""
    if isinstance(type_, ir.ScalarType):
        return (type_.dtype,)
    assert isinstance(type_, (ir.TensorType, ir.TileType))
    view = type_.tensor_view if isinstance(type_, ir.TensorType) else type_.tile_view
    valid = [extent.value for extent in view.valid_shape] if view else []
    return type_.dtype, [extent.value for extent in type_.shape], valid, type_.memory_space


def tensor(shape: list[int], dtype: D = D.FP32, valid: list[int] | None = None) -> tuple:
    return dtype, shape, valid or [], Mem.DDR


def tile(shape: list[int], dtype: D = D.FP32, space: Mem = Mem.Vec, valid: list[int] | None = None) -> tuple:
    return dtype, shape, valid or [], space


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pl.tensor.exp(x)", tensor([16, 64])),
        ("pl.tensor.exp(pl.tensor.neg(v))", tensor([16, 64], valid=[8, 64])),
        ("pl.tensor.add(x, row)", tensor([16, 64])),
        ("pl.tensor.add(v, v)", tensor([16, 64], valid=[8, 64])),
        ("pl.tensor.add(v, x)", tensor([16, 64])),
        ("pl.tensor.add(x, h)", tensor([16, 64])),
        ("pl.tensor.adds(v, 1.0)", tensor([16, 64], valid=[8, 64])),
        ("pl.tensor.row_sum(v)", tensor([16, 1], valid=[8, 1])),
        ("pl.tensor.cast(i, target_type=pl.INT32, mode='trunc')", tensor([16, 64], D.INT32)),
        ("pl.tensor.matmul(x, w, a_trans=False, b_trans=False, c_matrix_nz=False)", tensor([16, 32])),
        ("pl.tensor.matmul(h, wt, a_trans=False, b_trans=True, out_dtype=pl.FP32)", tensor([16, 32])),
        ("pl.tensor.slice(x, [4, 8], [0, 0])", tensor([4, 8])),
        ("pl.tensor.slice(x, [4, 8], [0, 0], [2, 8])", tensor([4, 8], valid=[2, 8])),
        ("pl.tensor.slice(x, [1, 8], [0, 0], [], [0])", tensor([8])),
        ("pl.tensor.slice(v, [4, 8], [6, 0])", tensor([4, 8], valid=[2, 8])),
        ("pl.tensor.reshape(x, [4, 256])", tensor([4, 256])),
        ("pl.tensor.full([2, 3], dtype=pl.INT8, value=0)", tensor([2, 3], D.INT8)),
        ("pl.tensor.assemble(x, col, [0, 0])", tensor([16, 64])),
        ("pl.tensor.read(i, [0, 0])", (D.INT8,)),
        ("pl.tensor.dim(x, 0)", (D.INDEX,)),
        ("pl.tile.exp(tv)", tile([16, 64], valid=[8, 60])),
        ("pl.tile.row_max(tv, t)", tile([16, 1], valid=[8, 1])),
        ("pl.tile.matmul(left, right)", tile([16, 32], D.FP32, Mem.Acc)),
        ("pl.tile.move(t, target_memory=pl.Mem.Mat)", tile([16, 64], space=Mem.Mat)),
        ("pl.tile.load(x, [0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)", tile([4, 8])),
        ("pl.tile.store(t, [0, 0], x)", tensor([16, 64])),
        ("pl.tile.get_block_idx()", (D.INDEX,)),
        ("pl.system.reserve_buffer(name='b', size=8, base=-1)", (D.INT32,)),
        ("pl.system.task_invalid()", (D.TASK_ID,)),
    ],
)  # fmt: skip
def test_results(text: str, expected: tuple) -> None:
    assert summary(type_of(text)) == expected


def test_symbolic_extents_are_kept() -> None:
    found = type_of("pl.tensor.neg(pl.tensor.slice(x, [n, 8], [0, 0]))")
    assert isinstance(found.shape[0], ir.Var)


def test_statements_without_a_rule_have_no_type() -> None:
    function = pl.parse(
        "# pypto.program: P\n@pl.function\ndef f(n: pl.Scalar[pl.INDEX]):\n    pl.tensor.exp(n)\n"
    )
    assert function.body.expr.type == ir.UnknownType()


def given(*args: ir.Expr, shape: str = "first", **kwargs: object) -> Operands:
    names = ("a", "b", "c")
    entry = OpEntry(
        name="tensor.test",
        summary="A test.",
        operands=tuple(OperandSpec(name=name, kind="any", optional=True) for name in names),
        result=ResultSpec(shape=shape),
        refused="a test",
    )
    return Operands(entry, args, ir.AttrMap(kwargs))


def value(*shape: object, dtype: D = D.FP32, valid: object = ()) -> ir.Var:
    return ir.Var("v", ir.TensorType(shape, dtype, None, ir.TensorView([], ir.TensorLayout.ND, valid)), S)


def axis(number: int) -> ir.ConstInt:
    return ir.ConstInt(number, D.INDEX, S)


@pytest.mark.parametrize(
    ("word", "operands", "expected"),
    [
        ("reduce_first", given(value(4, 6)), [1, 6]),
        ("reduce_second_last", given(value(2, 4, 6)), [2, 1, 6]),
        ("reduce_axis", given(value(2, 4, 6), axis=1), [2, 1, 6]),
        ("reduce_axis", given(value(2, 4, 6), axis=1, keep_dim=False), [2, 6]),
        ("transpose_last2", given(value(2, 4, 6)), [2, 6, 4]),
        ("transpose", given(value(2, 4, 6), axis(0), axis(2)), [6, 4, 2]),
        ("double_last", given(value(4, 6)), [4, 12]),
        ("split_axis_halved", given(value(5, 6), split=1), [3, 6]),
        ("split_axis_halved", given(value(5, 6), split=4), [5, 3]),
        ("split_axis_doubled", given(value(5, 6), split=2), [5, 12]),
        ("mask_pattern", given(value(1, 64), mask_pattern=1), [1, 32]),
        ("mask_pattern", given(value(1, 64), mask_pattern=5), [1, 16]),
        ("mask_pattern", given(value(1, 64), mask_pattern=7), [1, 64]),
        ("concat_last", given(value(2, 4), value(2, 6)), [2, 10]),
        ("broadcast", given(value(6), value(4, 1)), [4, 6]),
        ("scaled_last", given(value(4, 6), dtype=D.INT8), [4, 24]),
        ("scaled_last", given(value(4, 6, dtype=D.INT8), dtype=D.FP16), [4, 3]),
        ("packed_mask", given(value(4, 300)), [4, 64]),
    ],
)  # fmt: skip
def test_words_for_shapes(word: str, operands: Operands, expected: list[int]) -> None:
    assert [extent.value for extent in SHAPES[word](operands, [])] == expected


@pytest.mark.parametrize(
    ("word", "operands"),
    [
        ("transpose", given(value(4, 6), axis(0), axis(2))),
        ("transpose", given(value(4, 6), N, N)),
        ("reduce_axis", given(value(4, 6), axis=5)),
        ("split_axis_halved", given(value(4, 6))),
        ("mask_pattern", given(value(4, 6), mask_pattern=9)),
        ("broadcast", given(value(4), value(5))),
        ("matmul", given(value(4), value(5))),
        ("argument", given(value(4))),
    ],
)
def test_words_that_do_not_fit(word: str, operands: Operands) -> None:
    with pytest.raises(InferenceError):
        SHAPES[word](operands, [])


def test_symbolic_arithmetic() -> None:
    (extent,) = SHAPES["double_last"](given(value(N)), [])
    assert ir.structural_equal(extent, ir.Mul(N, ir.ConstInt(2, D.INDEX, S), D.INDEX, S))


def test_the_words_are_those_of_the_op_table() -> None:
    """A word without meaning here makes the ops that use it need an annotation."""
    assert DTYPES.keys() <= DTYPE_RULES.keys()
    assert SHAPES.keys() <= SHAPE_RULES.keys()
    assert VALID_REGIONS.keys() <= VALID_RULES.keys()
    assert DTYPE_RULES.keys() - DTYPES.keys() == {"declared"}
    assert SHAPE_RULES.keys() - SHAPES.keys() == {"declared", "scalar"}
    assert VALID_RULES.keys() - VALID_REGIONS.keys() == {"declared"}
