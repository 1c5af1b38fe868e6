"""Which programs run on the bytes of their tiles."""

import pytest
from storage.placed_kernels import placed

from pypto_tmpl.ir.pass_order import LEFT_OUT, passes_until
from pypto_tmpl.passes import MemoryPlanner
from pypto_tmpl.storage.stored import is_placed_at_0, is_stored

ADDRESSES = """
    a @ 0 FP32[16, 64] = load(x)
    b @ 0x1000 FP32[16, 64] = pl.tile.muls(a, 2.0)
    store(b)
"""
ONE_ALLOCATION = ADDRESSES.replace("0x1000", "0")
TWO_ALLOCATIONS = ADDRESSES.replace("b @ 0x1000", "b @ other+0")


@pytest.mark.parametrize(
    ("body", "stage", "choices"),
    [
        (ADDRESSES, "35_after_AllocateMemoryAddr", "planned on both"),
        (ADDRESSES, "00_frontend", "planned on both"),
        (ONE_ALLOCATION, "35_after_AllocateMemoryAddr", "planned on both"),
        (ONE_ALLOCATION, "34_after_MemoryReuse", "on"),
        (ONE_ALLOCATION, "32_after_InitMemRef", "on"),
        (TWO_ALLOCATIONS, "35_after_AllocateMemoryAddr", "planned on both"),
        (TWO_ALLOCATIONS, "38_after_DeriveCallDirections", "planned on both"),
        (TWO_ALLOCATIONS, "37_after_DeriveCallDirections", "planned on both"),  # planner DSA_RP
        (TWO_ALLOCATIONS, "33_after_DeriveCallDirections", "planned on both"),  # DebugTileOptimization
        (TWO_ALLOCATIONS, "36_after_DeriveCallDirections", "on"),  # planner PTOAS
        (TWO_ALLOCATIONS, "31_after_DeriveCallDirections", "on"),  # both
        (TWO_ALLOCATIONS, "40_after_DeriveCallDirections", "on"),  # of a pipeline that is not known
        (TWO_ALLOCATIONS, "49_after_LowerToBuffers", "planned on both"),
        (TWO_ALLOCATIONS, "48_after_LowerToBuffers", "on"),
        (TWO_ALLOCATIONS, "kernel", "on"),
    ],
)
def test_addresses_or_places_decide(body, stage, choices):
    functions = list(placed(body).functions.values())
    found = [choice for choice in ("planned", "on", "off", "both") if is_stored(functions, choice, stage)]
    assert found == choices.split()


def test_where_addresses_are_told_by_the_program_no_stage_need_tell():
    apart = TWO_ALLOCATIONS.replace("other+0", "other+0x1000")
    functions = list(placed(apart).functions.values())
    assert not is_placed_at_0(functions, "35_after_AllocateMemoryAddr")
    functions = list(placed(TWO_ALLOCATIONS).functions.values())
    assert is_placed_at_0(functions, "35_after_AllocateMemoryAddr")
    assert not is_placed_at_0(functions, "34_after_MemoryReuse")


def test_the_name_of_a_stage_tells_which_passes_have_run():
    (default,) = passes_until("38_after_DeriveCallDirections")
    assert (default[33], default[34], default[37]) == (
        "MemoryReuse",
        "AllocateMemoryAddr",
        "DeriveCallDirections",
    )
    (without,) = passes_until("36_after_DeriveCallDirections")
    assert {*default} - {*without} == {"MemoryReuse", "AllocateMemoryAddr"}
    assert len(list(passes_until("05_after_Simplify"))) == 6
    for stem in (
        "00_frontend",
        "39_after_DeriveCallDirections",
        "after",
        "x_after_Simplify",
        "99_after_Simplify",
    ):
        assert not list(passes_until(stem))


def test_planners_are_those_that_there_are():
    assert {*LEFT_OUT} == {*MemoryPlanner.__members__}
