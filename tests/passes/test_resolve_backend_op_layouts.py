"""ResolveBackendOpLayouts: which tiles become rows, which are moved, and that values stay."""

from pathlib import Path

import pytest
import torch
from corpus_check import find_dumps, run_script
from passes.kernels import after, kernel

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import torch_codegen

PASS = "ResolveBackendOpLayouts"
UNBOXED = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"
COLUMN = "c = pl.load(x, [0, 0], [16, 1])"
ROW_MAJOR_COLUMN = "f = pl.tile.full([16, 1], dtype=pl.FP32, value=1.0)"
WIDE = "w = pl.load(x, [0, 0], [16, 16])"
FAULTY = Path(__file__).resolve().parents[1] / "corpus" / "faulty"


@pytest.fixture(autouse=True, params=["Ascend910B", "Ascend950"])
def chosen_backend(request):
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[request.param])
    yield
    backend.reset_for_testing()


def resolved(*lines: str) -> list[str]:
    """The lines of a kernel behind the pass, but for the loads."""
    return [line for line in after(PASS, kernel(*lines)) if "tile.load(" not in line]


def values(node: ir.Program) -> torch.Tensor:
    """What a kernel leaves in ``out``."""
    namespace: dict[str, object] = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    x = torch.linspace(-2.0, 2.0, 256).reshape(16, 16)
    out = torch.full((16, 16), 9.0)
    namespace["kernel"](x, 0, out)
    return out


def test_columns_become_rows_and_results_columns_again():
    assert resolved(COLUMN, "d__tile = pl.tile.add(c, c)") == [
        "d__rm_a0_tmp_v0 = pl.tile.reshape(c, [1, 16])",
        "d__rm_a1_tmp_v1 = pl.tile.reshape(c, [1, 16])",
        "d__row_major_tmp_v2 = pl.tile.add(d__rm_a0_tmp_v0, d__rm_a1_tmp_v1)",
        "d__tile = pl.tile.reshape(d__row_major_tmp_v2, [16, 1])",
    ]


@pytest.mark.parametrize("call", ["tile.log({})", "tile.recip({})", "tile.div({}, {})"])
def test_columns_of_the_ops_with_a_precision_become_rows(call):
    places = call.count("{}")
    rows = [f"d__rm_a{place}_tmp_v{place}" for place in range(places)]
    assert resolved(COLUMN, f"d = pl.{call.format(*'cc')}") == [
        *(f"{row} = pl.tile.reshape(c, [1, 16])" for row in rows),
        f"d__row_major_tmp_v{places} = pl.{call.format(*rows)}",
        f"d = pl.tile.reshape(d__row_major_tmp_v{places}, [16, 1])",
    ]


def test_a_single_element_goes_along_with_columns():
    lines = (COLUMN, "s = pl.load(x, [3, 3], [1, 1])", "d = pl.tile.mul(c, s)", STORE_COLUMN)
    assert resolved(*lines)[:3] == [
        "d__rm_a0_tmp_v0 = pl.tile.reshape(c, [1, 16])",
        "d__row_major_tmp_v1 = pl.tile.mul(d__rm_a0_tmp_v0, s)",
        "d = pl.tile.reshape(d__row_major_tmp_v1, [16, 1])",
    ]
    node = kernel(*lines)
    assert torch.equal(values(passes.make_pass(PASS)(node)), values(node))


def test_a_partly_valid_column_stays_partly_valid():
    node = passes.make_pass(PASS)(
        kernel("c = pl.load(x, [0, 0], [16, 1], [12, 1])", "d = pl.tile.muls(c, 2.0)")
    )
    text = ir.python_print(node, format=False)
    assert "d__rm_a0_tmp_v0: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[1, 12])]" in text
    assert "d: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[12, 1]" in text


def test_a_boxed_tile_is_moved_and_so_is_what_was_declared_boxed():
    boxed = "blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major"
    assert resolved(WIDE, f"b = pl.move(w, target_memory=pl.Mem.Vec, {boxed})", "d = pl.tile.exp(b)")[1:] == [
        f"d__rm_a0_tmp_v0 = pl.tile.move(b, target_memory=pl.Mem.Vec, {UNBOXED})",
        "d__row_major_tmp_v1 = pl.tile.exp(d__rm_a0_tmp_v0)",
        f"d = pl.tile.move(d__row_major_tmp_v1, target_memory=pl.Mem.Vec, {boxed})",
    ]


def test_a_statement_without_result_names_its_operands_by_themselves():
    lines = (COLUMN, "i = pl.tile.cast(c, target_type=pl.INT32, mode='round')", "pl.tile.mscatter(c, i, out)")
    assert resolved(*lines)[3:] == [
        "layout_fix__row_major_arg0_tmp_v2 = pl.tile.reshape(c, [1, 16])",
        "layout_fix__row_major_arg1_tmp_v3 = pl.tile.reshape(i, [1, 16])",
        "pl.tile.mscatter(layout_fix__row_major_arg0_tmp_v2, layout_fix__row_major_arg1_tmp_v3, out)",
    ]


STORE_COLUMN = "done = pl.store(d, [0, 0], out)"
MOVED = {
    "a column that lies row by row": (COLUMN, ROW_MAJOR_COLUMN, "d = pl.tile.add(c, f)", STORE_COLUMN),
    "a result that lies row by row": (COLUMN, ROW_MAJOR_COLUMN, "d = pl.tile.sub(f, c)", STORE_COLUMN),
    "a column repeated over a matrix": (COLUMN, WIDE, "d = pl.tile.add(w, c)", STORE_COLUMN),
    "a packed mask": (
        COLUMN,
        ROW_MAJOR_COLUMN,
        "k = pl.tile.cmps(c, 0.5, cmp_type=1)",
        "t = pl.tile.create([1, 32], dtype=pl.UINT8)",
        "d = pl.tile.sel(k, c, c, t)",
        STORE_COLUMN,
    ),
}


@pytest.mark.parametrize("what", MOVED)
def test_where_not_all_are_columns_tiles_are_moved_instead(what):
    lines = resolved(*MOVED[what])
    assert any(f"tile.move(c, target_memory=pl.Mem.Vec, {UNBOXED})" in line for line in lines)
    assert not any("[1, 16])" in line for line in lines)
    node = kernel(*MOVED[what])
    assert torch.equal(values(passes.make_pass(PASS)(node)), values(node))


@pytest.mark.parametrize("program", ["layer_norm_pipeline_full", "ragged_tail_max_full"])
def test_values_that_the_pass_of_the_same_name_loses_are_kept(program):
    stages = find_dumps(FAULTY, ".py", f"{program}/")
    place = next(i for i, stage in enumerate(stages) if stage.path.stem.endswith(f"_after_{PASS}"))
    before, broken = stages[place - 1 : place + 1]
    node = passes.make_pass(PASS)(pl.loads(str(before.path)))
    assert not ir.structural_equal(node, pl.loads(str(broken.path)))
    assert run_script(torch_codegen(node, check_shapes=True, format=False), before) is None


def test_ops_that_take_any_layout_and_other_functions_stay():
    node = kernel(COLUMN, WIDE, "d = pl.row_expand_mul(w, c)", "e = pl.tile.exp(d)")
    assert passes.make_pass(PASS)(node) is node


def test_without_a_backend_nothing_is_needed():
    backend.reset_for_testing()
    node = kernel(COLUMN, "d = pl.tile.add(c, c)")
    assert passes.make_pass(PASS)(node) is node
