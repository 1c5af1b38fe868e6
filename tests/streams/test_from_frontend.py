"""Recorded frontends, through the passes: their texts are those recorded, names and source lines included."""

from pathlib import Path

import pytest

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.backend import BackendType
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names
from pypto_tmpl.streams import pto_texts

RECORDED = Path(__file__).parent / "recorded"
TESTS = Path(__file__).parents[1]
BUILDS = ["few_rows_in_a_lane_region/Ascend910B", "matmul_k_loop/Ascend950", "mixed_c2v_none/Ascend910B",
          "mixed_c2v_none/Ascend950", "softmax_rows/Ascend910B"]  # fmt: skip


@pytest.fixture(autouse=True)
def _no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.mark.parametrize("build", BUILDS)
def test_the_texts_are_those_recorded(build: str) -> None:
    name, kind = build.split("/")
    chosen = BackendType[kind]
    backend.set_backend_type(chosen)
    (frontend,) = TESTS.glob(f"*corpus/dumps/{name}/Ascend910B/00_frontend.msgpack")
    node = ir.deserialize_from_file(str(frontend))
    for pass_name in pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO):
        node = passes.make_pass(pass_name)(node)
    texts = pto_texts(node, chosen)
    recorded = {
        path.relative_to(RECORDED / build).as_posix(): path for path in (RECORDED / build).rglob("*.pto")
    }
    assert texts.keys() == recorded.keys()
    for path, file in recorded.items():
        assert texts[path].splitlines() == file.read_text().splitlines(), path
