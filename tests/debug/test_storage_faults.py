"""Drawn faults in plans of memory: that they have an effect, and that search and check name them."""

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from debug.storage_faults import KINDS, draw
from debug.storage_faults.drawing import draw_harmless, planned_stages
from debug.storage_faults.scoring import names, problems, runs_right, score, table
from debug.storage_faults.shadow import effects, positions
from storage.placed_kernels import placed

from pypto_tmpl import ir
from pypto_tmpl.storage.overwrites import OverwriteFacts

pytestmark = pytest.mark.xdist_group("storage_faults")  # drawing them takes long

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
SEED = 1
HERE = [kind for kind in KINDS if kind != "wrong_window_pitch"]  # no program there has a window below row 0
OVERLAID = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ 0x1800 FP32[16, 64] = load(y)
    c @ 0x4000 FP32[16, 64] = pl.tile.add(a, b)
    store(c)
"""


@pytest.fixture(scope="module")
def faults():
    return draw(SEED, [CORPUS], HERE)


def kernel(body):
    return next(iter(placed(body).functions.values()))


def test_the_criterion_tells_a_read_of_bytes_that_another_tile_has_taken():
    for way in effects(kernel(OVERLAID)):
        (wrong,) = way.wrong
        assert (wrong.tile, wrong.line, wrong.writer, wrong.writer_line) == ("a", 12, "b", 11)
        assert way.leaves


def test_what_is_not_stored_has_no_effect():
    unused = OVERLAID.replace("store(c)", "store(b)")
    assert [(len(way.wrong), way.leaves) for way in effects(kernel(unused))] == [(1, False)] * 2


def test_tiles_apart_and_equal_fills_have_none():
    filled = """
        a @ 0x1000 FP32[16, 64] = pl.tile.full([16, 64], dtype=pl.FP32, value=1.0)
        b @ 0x1800 FP32[16, 64] = pl.tile.full([16, 64], dtype=pl.FP32, value=1.0)
        c @ 0x4000 FP32[16, 64] = pl.tile.add(a, b)
        store(c)
    """
    for body in (OVERLAID.replace("0x1800", "0x2000"), filled):
        assert not any(way.wrong for way in effects(kernel(body)))


def test_positions_are_those_of_the_specification():
    """Longhand: of BF16[32, 32] in NZ, (17, 18) is in the second box of the second column of boxes."""
    nz = ir.TileView(blayout=ir.TileLayout.col_major, slayout=ir.TileLayout.row_major)
    zn = ir.TileView(blayout=ir.TileLayout.row_major, slayout=ir.TileLayout.col_major)
    assert positions([32, 32], nz, 2)[17, 18] == 3 * 256 + 1 * 16 + 2
    assert positions([32, 32], nz, 2)[17, 2] == 1 * 256 + 1 * 16 + 2
    assert (positions([32, 64], nz, 2) == positions([64, 32], zn, 2).T).all()


def test_recorded_plans_are_right_but_for_the_one_that_is_known(faults):
    wrong = {fault.stage.program for fault in faults} & {"carried_swap"}
    assert not wrong
    assert {stage.program for stage in planned_stages(CORPUS)} > {"carried_swap"}


def test_each_kind_has_five_over_many_programs(faults):
    assert Counter(fault.kind for fault in faults) == dict.fromkeys(HERE, 5)
    assert len({fault.stage.program for fault in faults}) >= 10
    assert draw(SEED, [CORPUS], HERE[:1]) == faults[:5]


def test_search_and_check_name_nearly_all_of_them(faults):
    """All of them where everything is checked, else one of each kind."""
    chosen = faults if os.environ.get("CI") else faults[::5]
    scores = [score(fault) for fault in chosen]
    allowed = len(chosen) // 10
    assert sum(not one.is_named for one in scores) <= allowed, table(scores, [])
    assert sum(not one.is_checked for one in scores) <= allowed, table(scores, [])


def test_of_changes_without_a_wrong_read_nothing_is_told_but_of_tiles_outside_of_allocations():
    harmless = draw_harmless(SEED, [CORPUS], HERE)
    chosen = harmless if os.environ.get("CI") else harmless[::5]
    assert {fault.kind for fault in harmless} > {"address_moved", "layout_flipped", "slot_reused_too_early"}
    for fault in chosen:
        found = problems(fault)
        assert all("in an allocation of" in problem for problem in found), fault.how
        assert runs_right(fault) is not bool(found), fault.how


def test_only_the_tiles_and_statements_themselves_count(faults):
    fault = next(one for one in faults if any(wrong.writer for wrong in one.wrong))
    wrong = next(wrong for wrong in sorted(fault.wrong, key=str) if wrong.writer)
    told = OverwriteFacts(
        wrong.function, wrong.tile, wrong.line, "Vec", 0, 31, wrong.writer, wrong.writer_line, False, ""
    )
    assert names(fault, told)
    for change in ({"tile": "other"}, {"line": 1}, {"by": "other"}, {"by_line": 1}, {"function": "other"}):
        assert not names(fault, replace(told, **change))
