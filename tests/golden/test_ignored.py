"""What a run was asked for and does not heed is told in one line."""

import pytest
import torch
from runtime import kernels

from pypto_tmpl.golden import TensorSpec, run

SPECS = [
    TensorSpec("x", [4, 8], torch.float32, lambda: torch.ones(4, 8)),
    TensorSpec("y", [4, 8], torch.float32, is_output=True),
]


def golden(values):
    values["y"][:] = values["x"]


def never(actual, expected, **_):
    raise AssertionError("called")


COMPARED = {"y": never}
CASES = {
    "golden_data": ({"compile_only": True, "golden_data": "."}, "golden_data (nothing is run)"),
    "compare_fn": ({"compile_only": True, "compare_fn": COMPARED}, "compare_fn (nothing is run)"),
    "all": (
        {"compile_only": True, "compare_fn": COMPARED, "golden_data": ".", "save_data": True},
        "golden_data, compare_fn, save_data=True (nothing is run)",
    ),
    "goldens": ({"golden_only": True, "compare_fn": COMPARED}, "compare_fn (nothing is compared)"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_ignored_is_told_in_one_line(name, capsys):
    knobs, said = CASES[name]
    result = run(kernels.copy(), SPECS, golden, **knobs)
    assert result.passed, result.error
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("[RUN] ignored")] == [f"[RUN] ignored: {said}"]


def test_the_place_of_a_build_that_is_there_already(capsys, tmp_path):
    build = run(kernels.copy(), SPECS, golden).work_dir
    capsys.readouterr()
    cfg = {"output_dir": str(tmp_path / "elsewhere"), "dump_passes": False}
    result = run(kernels.copy(), SPECS, golden, runtime_dir=build, compile_cfg=cfg)
    assert result.passed, result.error
    assert result.work_dir == build
    lines = capsys.readouterr().out.splitlines()
    said = "[RUN] ignored: output_dir, dump_passes (runtime_dir is used as it is)"
    assert [line for line in lines if line.startswith("[RUN] ignored")] == [said]
    assert not (tmp_path / "elsewhere").exists()


def test_nothing_is_said_where_nothing_is_ignored(capsys):
    assert run(kernels.copy(), SPECS, golden).passed
    assert "[RUN] ignored" not in capsys.readouterr().out
