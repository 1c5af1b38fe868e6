"""Result types that follow from the op table's words: promotion, packed masks, reductions, workspaces."""

import pytest
from codegen.builders import U, as_expr, tensor, tile

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.typing import infer_type

TABLE = load_table()


def result_of(name, *args, **kwargs):
    """Dtype name, shape and valid region (None: the whole box) of a call."""
    entry = TABLE[name]
    type_ = infer_type(entry, [as_expr(arg) for arg in args], ir.AttrMap(kwargs))
    view = type_.tile_view if isinstance(type_, ir.TileType) else type_.tensor_view
    region = [extent.value for extent in view.valid_shape] if view is not None and view.valid_shape else None
    return type_.dtype.name, [extent.value for extent in type_.shape], region


def of(dtype, shape=(8, 32), valid=()):
    return tile("x", shape, getattr(DataType, dtype), valid)


@pytest.mark.parametrize(
    ("left", "right", "promoted"),
    [
        ("INT32", "FP16", "FP16"),
        ("FP16", "INT32", "FP16"),
        ("FP16", "BF16", "FP16"),
        ("BF16", "FP16", "BF16"),
        ("BF16", "FP32", "FP32"),
        ("INT8", "INT32", "INT32"),
        ("UINT16", "INT16", "INT16"),
        ("INT16", "UINT16", "INT16"),
        ("UINT32", "INT16", "UINT32"),
        ("INT32", "INT32", "INT32"),
    ],
)
def test_promotion(left, right, promoted):
    for name in ("tile.add", "tile.fmod", "tile.part_max"):
        assert result_of(name, of(left), of(right)) == (promoted, [8, 32], None)


def test_a_scalar_takes_part_in_promotion_but_a_bare_integer_does_not():
    x = tensor("x", [8, 32], DataType.INT16)
    assert result_of("tensor.divs", x, 2.5)[0] == "FP32"
    assert result_of("tensor.divs", x, 2)[0] == "INT16"
    assert result_of("tensor.fmods", x, ir.ConstInt(2, DataType.INT32, U))[0] == "INT32"
    assert result_of("tile.fmods", of("INT16"), 2.5)[0] == "INT16"
    assert result_of("tile.addsc", of("INT16"), 2.5, of("INT16"))[0] == "FP32"
    assert result_of("tile.expands", of("INT16"), 2.5)[0] == "FP32"
    assert result_of("tensor.cmp", x, 2.5, cmp_type=0)[0] == "FP32"


def test_a_workspace_takes_part_where_the_rule_names_it():
    assert result_of("tile.rems", of("INT16", (1, 32)), 3, of("INT32")) == ("INT32", [8, 32], None)
    assert result_of("tile.rem", of("INT16"), of("INT16"), of("INT32"))[0] == "INT16"


@pytest.mark.parametrize(
    ("shape", "valid", "packed"),
    [
        ((8, 32), (), ([8, 32], [8, 4])),
        ((8, 256), (), ([8, 32], None)),
        ((8, 257), (5, 19), ([8, 64], [5, 3])),
        ((8, 32), (0, 0), ([8, 32], [0, 0])),
    ],
)
def test_packed_masks(shape, valid, packed):
    for name in ("tile.cmp", "tile.cmps"):
        right = 1.0 if name == "tile.cmps" else of("FP32", shape, valid)
        assert result_of(name, of("FP32", shape, valid), right, cmp_type=0) == ("UINT8", *packed)


def test_a_packed_mask_of_extents_known_at_run_time():
    columns = ir.Var("n", ir.ScalarType(DataType.INDEX), U)
    entry = TABLE["tile.cmp"]
    operands = [tile("x", [8, columns])] * 2
    type_ = infer_type(entry, operands, ir.AttrMap({"cmp_type": 0}))
    assert [ir.python_print(extent, format=False) for extent in type_.shape] == ["8", "(n + 255) // 256 * 32"]
    valid = type_.tile_view.valid_shape
    assert ir.python_print(valid[1], format=False) == "(n + 7) // 8"


def test_regions():
    part, whole = of("FP32", valid=(5, 20)), of("FP32")
    x, y = tensor("x", [2, 8, 32]), tensor("y", [8, 32])
    assert result_of("tile.part_add", part, whole)[2] == [5, 20]
    assert result_of("tile.sel", of("UINT8"), part, whole, of("UINT8"))[2] == [5, 20]
    assert result_of("tile.row_expand_max", part, of("FP32", (8, 1)))[2] == [5, 20]
    assert result_of("tile.row_expand", part, of("FP32", (8, 1)))[2] == [5, 20]
    assert result_of("tile.col_prod", part) == ("FP32", [1, 32], [1, 20])
    assert result_of("tile.row_argmax", part, whole) == ("INT32", [8, 1], [5, 1])
    assert result_of("tile.col_max", of("FP32", (2, 8, 32)))[1] == [1, 8, 32]
    assert result_of("tensor.col_max", x)[1] == [2, 1, 32]
    assert result_of("tensor.col_argmin", x, axis=0, keep_dim=False) == ("INT32", [8, 32], None)
    assert result_of("tensor.xors", y, 3) == ("FP32", [8, 32], None)
