"""Checks of properties that need facts of ops or of the hardware: when they hold, and who asks them."""

from pathlib import Path

import pytest
from passes.kernels import HEAD
from passes.test_kernel_checks import PLACED

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.passes import checks

P = ir.IRProperty
# The stages at which each property holds; a pass gives up AivSplitValid where it lowers the regions.
HOLDS = {
    P.AivSplitValid: range(9, 21),
    P.MixedKernelExpanded: range(22, 50),
    P.HardSyncallOccupancyValid: range(22, 50),
    P.ReturnParamsExplicit: range(26, 50),
    P.AllocatedMemoryAddr: range(35, 50),
    P.DistTensorCtxMaterialized: range(44, 50),
}
TESTS = Path(__file__).parents[1]
DUMPS = [
    path
    for corpus in ("corpus", "pass_corpus")
    for path in sorted(TESTS.glob(f"{corpus}/dumps/*/*/*.msgpack"))
]


@pytest.mark.parametrize(
    "path",
    [path for path in DUMPS if int(path.name[:2]) >= 9],
    ids=lambda path: f"{path.parts[-3]}-{path.stem}",
)
def test_the_properties_hold_of_recorded_programs(path):
    node = ir.deserialize_from_file(str(path))
    wanted = [one for one, stages in HOLDS.items() if int(path.name[:2]) in stages]
    assert checks.verify(node, wanted, facts_of(BackendType[path.parent.name])) == []


BEFORE = {  # recorded stages at which a property does not hold yet
    P.AivSplitValid: "pass_corpus/dumps/lane_regions_of_two_modes/Ascend910B/00_frontend.py",
    P.MixedKernelExpanded: "corpus/dumps/mixed_bidirect_none/Ascend910B/18_after_InferTileMemorySpace.py",
    P.ReturnParamsExplicit: "corpus/dumps/carried_swap/Ascend910B/22_after_ExpandMixedKernel.py",
    P.AllocatedMemoryAddr: "corpus/dumps/mixed_bidirect_none/Ascend910B/34_after_MemoryReuse.py",
    P.DistTensorCtxMaterialized: "pass_corpus/dumps/two_domains/Ascend910B/05_after_Simplify.py",
}


@pytest.mark.parametrize("wanted", BEFORE, ids=lambda wanted: wanted.name)
def test_the_properties_do_not_hold_before_their_pass(wanted):
    assert checks.verify(pl.loads(TESTS / BEFORE[wanted]), [wanted])


def test_a_pipeline_checks_with_what_the_backend_has():
    """The text fits the 240 KiB of one backend and not the 184 KiB of the other."""
    node = pl.parse(HEAD + PLACED.replace("slot, 2048", "slot, 200000"))
    properties = passes.PassProperties(produced=passes.IRPropertySet([P.AllocatedMemoryAddr]))
    places = passes.create_program_pass(lambda given: given, "Places", properties)
    try:
        backend.set_backend_type(BackendType.Ascend950)
        assert passes.PassPipeline([places]).run(node) is node
        backend.reset_for_testing()
        backend.set_backend_type(BackendType.Ascend910B)
        with pytest.raises(
            passes.VerificationError, match=r"216384 bytes\) exceeds platform limit"
        ) as raised:
            passes.PassPipeline([places]).run(node)
    finally:
        backend.reset_for_testing()
    assert raised.value.__notes__ == ["found by the verifier at the pass Places"]


def test_all_verified_properties_are_checked():
    assert set(passes.get_verified_properties()) <= set(passes.CHECKED_PROPERTIES)


@pytest.mark.parametrize(
    ("pair", "written"),
    [
        ("ConvertTensorToTileOps/element_writes_Ascend910B", {"hist__ssa_v0", "filled__ssa_v0"}),
        ("OutlineIncoreScopes/level_nest_Ascend910B", {"out__iter_v1", "total__ssa_v0", "gap__ssa_v0"}),
    ],
)
def test_kernels_without_results_leave_their_callers_no_other_name_for_what_they_wrote(pair, written):
    """PyPTO's pipeline verifies InOutUseValid of its input alone; what its passes made here breaks it."""
    before, after = (
        checks.verify(
            ir.deserialize_from_file(str(TESTS / "passes/recorded" / pair / name)), [P.InOutUseValid]
        )
        for name in ("before.msgpack", "after.msgpack")
    )
    assert before == []
    assert {item.message.split("'")[1] for item in after} == written
