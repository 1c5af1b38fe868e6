"""Pad and compact mode of result types, as recorded after a fillpad or a partly valid matmul."""

import pytest
from codegen.builders import as_expr, scalar

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.typing import infer_type

TABLE = load_table()
FP32 = ir.DataType.FP32
NULL, ZERO, MIN = ir.PadValue.null, ir.PadValue.zero, ir.PadValue.min
LOOSE, NORMAL = ir.CompactMode.null, ir.CompactMode.normal


def tile(space="Vec", shape=(16, 64), valid=(), pad=NULL, compact=LOOSE, layout="row_major"):
    boxes = ir.TileLayout.none_box if space == "Vec" else ir.TileLayout.row_major
    view = ir.TileView(
        valid, (), None, ir.TileLayout[layout], boxes, 1024 if space == "Acc" else 512, pad, compact
    )
    type_ = ir.TileType(shape, FP32, None, view, ir.MemorySpace[space])
    return ir.Var("x", type_, ir.Span.unknown())


def extras(name, *args, **kwargs):
    """Pad and compact mode of a call's result."""
    type_ = infer_type(TABLE[name], [as_expr(arg) for arg in args], ir.AttrMap(kwargs))
    view = type_.get_effective_tile_view()
    return view.pad, view.compact


PADDED, PLAIN = tile(pad=ZERO), tile()
ACC = tile("Acc", valid=(9, 64), compact=NORMAL, layout="col_major")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("tile.add", (PADDED, PLAIN)),
        ("tile.maximum", (PADDED, PADDED)),
        ("tile.adds", (PADDED, 1.0)),
        ("tile.exp", (PADDED,)),
        ("tile.row_expand_mul", (PADDED, tile(shape=(16, 1), layout="col_major"))),
        ("tile.col_expand_mul", (PADDED, tile(shape=(1, 64)))),
        ("tile.row_expand", (PADDED, tile(shape=(16, 1), layout="col_major"))),
        ("tile.set_validshape", (PADDED, 5, 20)),
    ],
)
def test_the_pad_is_that_of_the_operand_whose_view_the_result_has(name, args):
    assert extras(name, *args) == (ZERO, LOOSE)


def test_the_pad_of_another_operand_does_not_count():
    assert extras("tile.add", PLAIN, PADDED) == (NULL, LOOSE)


def test_a_reduction_has_no_pad():
    assert extras("tile.row_max", tile(pad=MIN), PLAIN) == (NULL, LOOSE)


@pytest.mark.parametrize(
    ("name", "args"), [("tile.muls", (ACC, 0.25)), ("tile.exp", (ACC,)), ("tile.add", (ACC, PLAIN))]
)
def test_the_compact_mode_is_inherited_in_the_same_way(name, args):
    assert extras(name, *args) == (NULL, NORMAL)


def test_a_move_keeps_the_pad_only():
    assert extras("tile.move", ACC, target_memory=ir.MemorySpace.Vec) == (NULL, LOOSE)
    assert extras("tile.move", PADDED, target_memory=ir.MemorySpace.Vec) == (ZERO, LOOSE)


def test_the_half_of_a_lane_is_not_compact():
    assert extras("tile.aiv_shard", ACC, split=1) == (NULL, LOOSE)


@pytest.mark.parametrize(
    ("valid", "compact"),
    [((9, 32), NORMAL), ((scalar("n"), 32), NORMAL), ((16, 20), LOOSE), ((16, 32), LOOSE), ((), LOOSE)],
)
def test_an_accumulator_of_fewer_valid_rows_than_rows_is_compact(valid, compact):
    left = tile("Left", (16, 32), valid, layout="col_major")
    right = tile("Right", (32, 64), layout="row_major")
    assert extras("tile.matmul", left, right) == (NULL, compact)


def test_an_accumulator_that_is_added_to_stays_compact():
    left = tile("Left", (16, 32), (9, 32), layout="col_major")
    assert extras("tile.matmul_acc", ACC, left, tile("Right", (32, 64))) == (NULL, NORMAL)


def test_the_keyword_of_a_fillpad_comes_first():
    assert extras("tile.fillpad", tile(valid=(5, 64), pad=MIN), pad_value=ZERO) == (ZERO, LOOSE)


def test_a_transposed_view_keeps_both():
    turned = tile("Acc", pad=ZERO, compact=NORMAL, layout="col_major")
    assert extras("tile.transpose_view", turned) == (ZERO, NORMAL)
