"""Which programs run on the bytes of their tiles."""

import pytest
from storage.placed_kernels import placed

import pypto_tmpl.language as pl
from pypto_tmpl.ir.pass_order import LEFT_OUT, passes_until
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes import MemoryPlanner
from pypto_tmpl.storage.places import FunctionPlaces, has_addresses, has_places
from pypto_tmpl.storage.stored import copies_yields, is_placed_at_0, is_stored

DECLARED = """
import pypto.language as pl

@pl.program
class p:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
        ) -> pl.Tensor[[16, 64], pl.FP32]:
        t: pl.Tile[[16, 64], pl.FP32, pl.MemRef("own", slots=2)[1], pl.Mem.Vec] = \\
            pl.load(x, [16, 0], [16, 64])
        out = pl.store(t, [0, 0], out)
        return out
"""
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
    apart = TWO_ALLOCATIONS.replace("other+0", "other+0x10000")
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


@pytest.mark.parametrize(
    ("stage", "copies"),
    [
        ("32_after_InitMemRef", True),
        ("33_after_MaterializeSemanticAliases", True),
        ("34_after_MemoryReuse", False),
        ("34_after_AllocateMemoryAddr", False),  # planner DSA_RP
        ("34_after_FoldNoOpReshape", True),  # planner PTOAS: nobody plans them
        ("44_after_MaterializeRuntimeScopes", True),
        ("46_after_MaterializeRuntimeScopes", False),
        ("31_after_MaterializeTensorStrides", False),
        ("kernel", False),
    ],
)
def test_yields_are_copied_where_nobody_has_planned_that(stage, copies):
    assert copies_yields(stage) is copies


def test_a_buffer_that_is_only_declared_is_no_place_yet():
    program = pl.parse(DECLARED)
    (function,) = program.functions.values()
    assert not has_places([function])
    assert not has_addresses([function])
    assert not list(FunctionPlaces(function, load_table()).all())
    assert not is_stored([function], "on", "28_after_LowerPipelineToSlots")


def test_planners_are_those_that_there_are():
    assert {*LEFT_OUT} == {*MemoryPlanner.__members__}
