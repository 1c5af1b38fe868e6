"""Builds run by the command of ``pypto.runtime.execute_artifact``."""

import importlib
import json

import pytest
import torch
from runtime import kernels

from pypto_tmpl import compat, ir
from pypto_tmpl.compile.assembler import PtoasError
from pypto_tmpl.upstream import execute_artifact as module
from pypto_tmpl.upstream.execute_artifact import main

GOLDEN = """
import torch

__outputs__ = ["y"]
RTOL = ATOL = 1e-6


def generate_inputs(params):
    return [("x", torch.full((4, 8), 3.0)), ("y", torch.zeros(4, 8))]


def compute_golden(tensors, params):
    tensors["y"][:] = {value}
"""


@pytest.fixture
def build(tmp_path):
    """A build of ``y = x``."""
    ir.compile(kernels.copy(), tmp_path, skip_ptoas=True)
    return tmp_path


def write_golden(build, value):
    (build / "golden.py").write_text(GOLDEN.format(value=value))


def actual(build):
    return torch.load(build / "data/actual/y.pt", weights_only=True)


def test_it_is_answered_under_its_name():
    with compat.answering():
        assert importlib.import_module("pypto.runtime.execute_artifact").main is main


def test_what_golden_py_expects(build, capsys):
    write_golden(build, 3.0)
    assert main(["--work-dir", str(build), "--platform", "a2a3sim", "--device-id", "2"]) == 0
    assert capsys.readouterr().out.endswith("PYPTO_EXEC_RESULT=PASS device=2\n")
    assert torch.equal(actual(build), torch.full((4, 8), 3.0))


def test_other_values(build, capsys):
    write_golden(build, 4.0)
    assert main(["--work-dir", str(build)]) == 1
    out, err = capsys.readouterr()
    assert out.endswith("PYPTO_EXEC_RESULT=FAIL device=0\n")
    assert "does not match golden" in err
    assert torch.equal(actual(build), torch.full((4, 8), 3.0))  # saved all the same
    assert main(["--work-dir", str(build), "--no-validate"]) == 0
    assert capsys.readouterr().out == "PYPTO_EXEC_RESULT=PASS device=0\n"


@pytest.mark.parametrize(("expected", "code"), [(0.0, 0), (1.0, 1)])
def test_what_a_run_has_saved(build, expected, code, capsys):
    x = torch.arange(32.0).reshape(4, 8)
    for side, name, value in (("in", "x", x), ("out", "y", x + expected)):
        (build / "data" / side).mkdir(parents=True)
        torch.save(value, build / "data" / side / f"{name}.pt")
    assert main(["--work-dir", str(build)]) == code
    assert torch.equal(actual(build), x)


def test_no_inputs_and_no_build(build, tmp_path_factory, capsys):
    assert main(["--work-dir", str(build)]) == 1
    assert "has no saved inputs" in capsys.readouterr().err
    assert main(["--work-dir", str(tmp_path_factory.mktemp("empty"))]) == 1
    out, err = capsys.readouterr()
    assert out == "PYPTO_EXEC_RESULT=INFRA device=0\n"
    assert "is no complete build" in err


def test_cpp_that_cannot_be_made_again(build, monkeypatch, capsys):
    def refuse(*_):
        raise PtoasError("kernel.pto:1: no such op")

    monkeypatch.setattr(module, "rebuild_from_texts", refuse)
    assert main(["--work-dir", str(build)]) == 1
    out, err = capsys.readouterr()
    assert out == "PYPTO_EXEC_RESULT=INFRA device=0\n"
    assert "no such op" in err


def test_a_batch(build, tmp_path_factory, capsys):
    write_golden(build, 3.0)
    other = tmp_path_factory.mktemp("other")
    listed = other / "builds.json"
    listed.write_text(json.dumps([{"work_dir": str(build), "platform": "a2a3sim"}, {"work_dir": str(other)}]))
    assert main(["--batch-manifest", str(listed)]) == 1
    results = [line for line in capsys.readouterr().out.splitlines() if line.startswith("PYPTO")]
    assert results == ["PYPTO_EXEC_RESULT=PASS device=0", "PYPTO_EXEC_RESULT=INFRA device=0"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "is no JSON"),
        ("[]", "expected a list of"),
        ('[{"platform": "a2a3sim"}]', "entry 0 names no work_dir"),
        ('[{"work_dir": "a", "platform": "b"}]', "entry 0 has the platform 'b'; there are a2a3"),
        ('[{"work_dir": "a", "device": 1}]', "entry 0 has 'device'"),
    ],
)
def test_a_batch_that_cannot_be_read(tmp_path, capsys, text, what):
    listed = tmp_path / "builds.json"
    listed.write_text(text)
    assert main(["--batch-manifest", str(listed)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and what in err
