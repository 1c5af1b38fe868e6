"""Kernel files of people: what the passes on tensors make of them agrees with their golden functions.

Where CI is set all of them, for both generations of hardware, else a few.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.cli import main
from pypto_tmpl.golden import sources
from pypto_tmpl.ir.pass_order import PREFIX, TENSOR_ONLY
from pypto_tmpl.snapshots.places import in_ci

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for folder in ("examples", "tests/compat/files", "tests/compat/kernels")
    for path in (ROOT / folder).glob("*.py")
    if "__main__" in path.read_text() and path.stem != "demo"  # which runs no kernel, but a recorded dump
)
SAMPLED = {"flagged_matmul", "gemm_gelu", "half_gate", "layer_norm", "nested", "tail_after_return", "topk"}
PLATFORMS = {"a2a3sim": "Ascend910B", "a5sim": "Ascend950"}
CHOSEN = [
    (path, platform)
    for place, path in enumerate(FILES)
    for platform in PLATFORMS
    if in_ci() or (path.stem in SAMPLED and platform == [*PLATFORMS][place % 2])
]


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def lowered(program: ir.Program) -> ir.Program:
    """A program after OptimizeOrchTensors; the pipeline verifies that no tensor op is left in its kernels."""
    return passes.PassPipeline([passes.make_pass(name) for name in (*PREFIX, *TENSOR_ONLY)]).run(program)


def test_there_are_files():
    assert len(FILES) >= 25 and {path.stem for path in FILES} >= SAMPLED


@pytest.mark.parametrize(("path", "platform"), CHOSEN, ids=lambda given: getattr(given, "stem", given))
def test_a_kernel_agrees_with_its_golden_after_the_passes(path, platform, tmp_path, monkeypatch):
    made = []
    for source in (sources.JitFunction, sources.GivenProgram):

        def program(self, before=source.program):
            made.append(lowered(before(self)))
            return made[-1]

        monkeypatch.setattr(source, "program", program)
    monkeypatch.chdir(tmp_path)
    backend.set_backend_type(backend.BackendType[PLATFORMS[platform]])
    # What is run is what these passes have made, without those of the build.
    result = CliRunner().invoke(main, ["run", str(path), "-p", platform, "--stage", "frontend"])
    assert result.exit_code == 0 and "[RUN] PASS" in result.output, result.output
    assert made
