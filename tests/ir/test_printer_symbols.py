"""Symbols that types name: when the header lists them, and the names of local variables beside them."""

import re

import pytest
from ir.printer_samples import (
    FP32,
    INDEX,
    NOWHERE,
    assign,
    call,
    function,
    integer,
    program,
    returns,
    scalar,
    text,
)

import pypto_tmpl.language as pl
from pypto_tmpl import ir

VEC = ir.MemorySpace.Vec
LANE_TYPE = ir.ScalarType(INDEX)
LANE = "tile.get_subblock_idx"


def narrow_tile(*valid: ir.Expr | int) -> ir.TileType:
    view = ir.TileView(valid, (), None, ir.TileLayout.row_major, ir.TileLayout.none_box, 512)
    return ir.TileType([16, 64], FP32, None, view, VEC)


def lane_rows(lane: ir.Var) -> ir.TileType:
    """Of 9 rows those that one of two lanes has."""
    return narrow_tile(ir.Max(9 - lane * 16, integer(0), INDEX, NOWHERE), 64)


def header(printed: str) -> list[str]:
    return re.findall(r"^(\w+) = pl\.dynamic", printed, re.MULTILINE)


def read_again(printed: str) -> ir.Program:
    """The program that a text gives; its own text is that one."""
    found = pl.parse(printed)
    assert isinstance(found, ir.Program)
    assert text(found) == printed
    return found


@pytest.mark.parametrize(
    ("extent", "written"),
    [
        (ir.Min(scalar("LEN"), integer(64), INDEX, NOWHERE), "pl.min(LEN, pl.const(64, pl.INDEX))"),
        (scalar("LEN") * 2 + 1, "LEN * pl.const(2, pl.INDEX) + pl.const(1, pl.INDEX)"),
        (scalar("LEN"), "LEN"),
        (integer(48), "48"),
        (integer(48, ir.DataType.INT32), "pl.const(48, pl.INT32)"),
    ],
)
def test_constants_inside_a_composite_extent_tell_their_dtype(extent: ir.Expr, written: str) -> None:
    assert f"pl.TileView(valid_shape=[16, {written}])" in text(narrow_tile(16, extent))
    view = ir.TensorView([extent, integer(1)], ir.TensorLayout.ND, [16, extent])
    assert f"pl.TensorView(valid_shape=[16, {written}], stride=[{written}, 1]," in text(
        ir.TensorType([16, 64], FP32, None, view)
    )
    offset = ir.TileView((), (), extent, ir.TileLayout.row_major, ir.TileLayout.none_box, 512)
    assert f"start_offset={written})" in text(ir.TileType([16, 64], FP32, None, offset, VEC))


def test_a_parameter_that_the_signature_has_as_an_extent_is_a_dimension() -> None:
    length, used = scalar("LEN"), scalar("n__ssa_v0")
    view = ir.TensorView([integer(64), integer(1)], ir.TensorLayout.ND, [16, length])
    x = ir.Var("x", ir.TensorType([16, 64], FP32, None, view), NOWHERE)
    part = ir.Var("part", narrow_tile(16, used), NOWHERE)
    clip = function("clip", [length, x], returns(length))
    local = function(
        "local", [used], ir.SeqStmts([assign(part, call("tile.other", type=part.type))], NOWHERE)
    )
    printed = text(program(clip, local))
    assert header(printed) == ["LEN"]  # what only the types of a body name is an ordinary parameter
    assert "def clip(self, LEN: pl.Scalar[pl.INDEX], x: pl.Tensor[[16, 64]" in printed
    read = read_again(printed).get_function("clip")
    assert read is not None
    assert read.params[1].type.tensor_view.valid_shape[1] is read.params[0]


def test_a_parameter_of_another_type_is_no_dimension() -> None:
    length = scalar("n", ir.DataType.INT64)
    x = ir.Var("x", ir.TensorType([length, 64], FP32), NOWHERE)
    printed = text(program(function("f", [length, x], returns(x))))
    assert header(printed) == []
    assert ir.structural_equal(read_again(printed), program(function("f", [length, x], returns(x))))


def test_a_parameter_of_the_name_of_another_functions_dimension_is_its_own() -> None:
    length, other = scalar("LEN"), scalar("LEN")
    x = ir.Var("x", ir.TensorType([length, 64], FP32), NOWHERE)
    first, second = function("a", [length, x], returns(x)), function("b", [other], returns(other))
    whole = program(first, second)
    printed = text(whole)
    assert header(printed) == ["LEN"]
    assert ir.structural_equal(read_again(printed), whole)


def test_a_symbol_that_a_statement_binds_is_no_dimension() -> None:
    later = scalar("later")
    x = ir.Var("x", ir.TensorType([later, 64], FP32), NOWHERE)
    whole = program(function("f", [x], ir.SeqStmts([assign(later, integer(4)), returns(x)], NOWHERE)))
    assert header(text(whole)) == []
    assert ir.structural_equal(read_again(text(whole)), whole)


def lane_kernel(name: str, hint: str, stale: ir.Var | None, lane_op: str = LANE) -> ir.Function:
    """A kernel with an index of its lane, and types that name it or the index of another function."""
    lane = ir.Var(hint, LANE_TYPE, NOWHERE)
    popped, result = (ir.Var(n, lane_rows(v), NOWHERE) for n, v in (("p", stale or lane), ("r", lane)))
    body = [
        assign(lane, call(lane_op, type=LANE_TYPE)),
        assign(popped, call("tile.tpop_from_aic", type=popped.type, split=1)),
        assign(result, call("tile.exp", popped, type=result.type)),
        ir.EvalStmt(call("tile.other", result, lane * 16, type=ir.UnknownType()), NOWHERE),
    ]
    return function(name, [], ir.SeqStmts(body, NOWHERE), type=ir.FunctionType.AIV)


def test_a_lane_index_keeps_its_name_beside_one_that_only_types_name() -> None:
    printed = text(program(lane_kernel("rows", "lane__ssa_v0", scalar("lane__ssa_v0"))))
    assert header(printed) == ["lane__ssa_v0"]
    assert "        lane__ssa_v0: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()\n" in printed
    assert "pl.tile.other(r, lane__ssa_v0 * 16)\n" in printed
    assert "lane__ssa_v0_" not in printed
    read_again(printed)


def test_lane_indices_of_several_functions_are_numbered_where_only_types_name_them() -> None:
    kernels = [
        lane_kernel(name, "subblock_idx", scalar("subblock_idx")) for name in ("even", "odd", "pinned")
    ]
    printed = text(program(*kernels))
    assert header(printed) == ["subblock_idx", "subblock_idx_1", "subblock_idx_2"]
    assert printed.count("        subblock_idx: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()\n") == 3
    assert [re.findall(r"p: .*- (\w+) \*", kernel) for kernel in printed.split("def ")[1:]] == [
        ["subblock_idx"],
        ["subblock_idx_1"],
        ["subblock_idx_2"],
    ]
    read_again(printed)


def test_the_index_of_a_split_region_keeps_its_name_as_well() -> None:
    lane, stale = ir.Var("lane", LANE_TYPE, NOWHERE), scalar("lane")
    part = ir.Var("part", lane_rows(stale), NOWHERE)
    body = [
        assign(lane, call(LANE, type=LANE_TYPE)),
        assign(part, call("tile.aiv_shard", type=part.type, split=1)),
        ir.EvalStmt(call("tile.other", part, lane * 16), NOWHERE),
    ]
    region = ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, 2, "", ir.SeqStmts(body, NOWHERE), NOWHERE)
    printed = text(program(function("f", [], region, type=ir.FunctionType.InCore)))
    assert header(printed) == ["lane"]
    assert "for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):" in printed
    assert "pl.tile.other(part, lane * 16)\n" in printed
    read_again(printed)


def test_the_place_of_a_tile_names_the_index_of_its_own_lane() -> None:
    lane, base = ir.Var("lane", LANE_TYPE, NOWHERE), ir.Var("mem_vec_0", ir.PtrType(), NOWHERE)
    memref = ir.MemRef(base, lane * 4096, 4096)
    view = lane_rows(scalar("lane")).tile_view
    part = ir.Var("part", ir.TileType([16, 64], FP32, memref, view, VEC), NOWHERE)
    body = [
        assign(lane, call(LANE, type=LANE_TYPE)),
        assign(part, call("tile.tpop_from_aic", type=part.type, split=1)),
    ]
    printed = text(program(function("f", [], ir.SeqStmts(body, NOWHERE), type=ir.FunctionType.AIV)))
    statements = read_again(printed).get_function("f").body.stmts
    read = statements[1].var.type
    assert read.memref.byte_offset_.left is statements[0].var
    assert read.tile_view.valid_shape[0].left.right.left is not statements[0].var


def test_other_variables_are_renamed_beside_a_dimension() -> None:
    """Only in lane code a symbol that nothing binds has a meaning, that of the local index."""
    whole = program(lane_kernel("f", "i", scalar("i"), lane_op="tile.get_block_idx"))
    printed = text(whole)
    assert header(printed) == ["i"]
    assert "        i_1: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()\n" in printed
    assert ir.structural_equal(read_again(printed), whole)


def test_a_lane_index_is_renamed_beside_a_dimension_of_the_signature() -> None:
    rows = scalar("rows")
    x = ir.Var("x", ir.TensorType([rows, 64], FP32), NOWHERE)
    lane = ir.Var("rows", LANE_TYPE, NOWHERE)
    body = [assign(lane, call(LANE, type=LANE_TYPE)), returns(lane)]
    whole = program(function("f", [x], ir.SeqStmts(body, NOWHERE), [LANE_TYPE], type=ir.FunctionType.AIV))
    printed = text(whole)
    assert header(printed) == ["rows"]
    assert (
        "        rows_1: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()\n        return rows_1\n" in printed
    )
    assert ir.structural_equal(read_again(printed), whole)
