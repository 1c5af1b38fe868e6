"""Runs in a folder of their own, with their console lines."""

import re

import pytest
import torch
from runtime import kernels

from pypto_tmpl.golden import ScalarSpec, TensorSpec, run

_SECONDS = re.compile(r"\d+\.\d\ds")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Default build directories go into a folder of the test; no variable of the user counts."""
    monkeypatch.chdir(tmp_path)
    for name in ("PYPTO_PROG_BUILD_DIR", "PYPTO_BENCH", "PYPTO_GOLDEN_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def console(capsys):
    """The lines printed since the last call, times as ``T``."""
    return lambda: _SECONDS.sub("T", capsys.readouterr().out).splitlines()


@pytest.fixture
def scale_specs():
    """Specs of ``kernels.scale()``: y = 3 * x with x = 0, 1, ..., 31."""
    return [
        TensorSpec("x", [4, 8], torch.float32, lambda: torch.arange(32.0).reshape(4, 8)),
        ScalarSpec("n", torch.float32, 3),
        TensorSpec("y", [4, 8], torch.float32, is_output=True),
    ]


@pytest.fixture
def run_scale(scale_specs):
    """Runs ``kernels.scale()`` with the right golden, unless told otherwise."""

    def run_it(**knobs):
        knobs.setdefault("golden_fn", scale_golden)
        knobs.setdefault("program", kernels.scale())
        knobs.setdefault("specs", scale_specs)
        return run(**knobs)

    return run_it


def scale_golden(values):
    values["y"][:] = values["x"] * values["n"]
