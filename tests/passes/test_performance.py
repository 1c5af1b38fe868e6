"""Hints about short rows: those that PyPTO's builds of recorded programs left in their reports."""

from pathlib import Path

import pytest
from passes.kernels import kernel

from pypto_tmpl import backend, ir
from pypto_tmpl.passes.performance import PERF_HINTS, hint_lines, perf_hints_of

TESTS = Path(__file__).resolve().parents[1]
REPORTS = Path(__file__).parent / "recorded_hints"
STAGES = {
    "launches_in_loops_and_clusters": "pass_corpus/dumps/{}/Ascend910B/22_after_ExpandMixedKernel.msgpack",
    "quant_matmul_int8": "corpus/dumps/{}/Ascend910B/46_after_MaterializeRuntimeScopes.msgpack",
    "ragged_tail_max": "corpus/dumps/{}/Ascend910B/46_after_MaterializeRuntimeScopes.msgpack",
}


@pytest.fixture(autouse=True)
def chosen_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


@pytest.mark.parametrize("name", STAGES)
def test_a_recorded_report(name):
    """By place in the file, across functions; at one place by dtype and extents, as numbers."""
    node = ir.deserialize_from_file(str(TESTS / STAGES[name].format(name)))
    assert isinstance(node, ir.Program)
    found = hint_lines(perf_hints_of(node, PERF_HINTS))
    assert found == (REPORTS / f"{name}.log").read_text().splitlines()


def test_the_tile_is_judged_by_its_rows_and_what_is_moved_by_the_valid_region():
    """Rows of 128 FP32 are 512 bytes, which is enough; of rows of 64 (256 bytes) 3 of 10 elements move."""
    node = kernel(
        "a = pl.tile.load(x, [0, 0], [16, 128], [3, 10], target_memory=pl.Mem.Vec)",
        "b = pl.tile.load(x, [0, 0], [16, 64], [3, 10], target_memory=pl.Mem.Vec)",
        "c = pl.tile.load(x, [0, 0], [16, 32], [n, 10], target_memory=pl.Mem.Vec)",
    )
    first, second = hint_lines(perf_hints_of(node, PERF_HINTS))
    assert "dim = 256B (tile fp32[64], target_memory=Vec); moves 120B as 3 x 40B rows; recommended" in first
    assert "dim = 128B (tile fp32[32], target_memory=Vec); recommended" in second
