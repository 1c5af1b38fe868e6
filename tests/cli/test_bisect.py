"""``pypto-tmpl bisect``: what it prints, and its exit codes."""

import json

import pytest
import torch
from click.testing import CliRunner
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, tensors in (("in", inputs()), ("out", expected())):
        (tmp_path / name).mkdir()
        for tensor, value in tensors.items():
            torch.save(value, tmp_path / name / f"{tensor}.pt")
    write_dump(tmp_path / "dump", scaled_text(), scaled_text(), scaled_text(odd=3.0))
    write_dump(tmp_path / "good", scaled_text(), scaled_text())


def run(dump, *arguments):
    return CliRunner().invoke(main, ["bisect", dump, "--inputs", "in", "--expected", "out", *arguments])


def test_text():
    result = run("dump")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[:3] == ["ok     00_frontend", "wrong  02_after_Pass2", "ok     01_after_Pass1"]
    assert lines[3] == "first bad stage: 02_after_Pass2 (last good: 01_after_Pass1; binary search)"
    assert "    source: dump/02_after_Pass2.py:10" in lines


def test_json():
    result = run("dump", "--format", "json")
    found = json.loads(result.output)
    assert (result.exit_code, found["first_bad"], found["place"]["variable"]) == (1, "02_after_Pass2", "b")
    assert json.loads(run("good", "--format", "json").output) is None


def test_all_good():
    result = run("good", "--scan")
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "every stage is as expected")


def test_a_loose_tolerance_makes_it_good():
    assert run("dump", "--tolerance", "out=1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nosuch",), "there is no 'nosuch'"),
        (("dump", "--only", "ot"), "did you mean 'out'"),
        (("dump", "--entry", "nosuch"), "there is no function 'nosuch'"),
        (("dump", "--option", "poisn=1"), "poison"),
        (("dump", "--rtol", "-1"), "rtol must be 0 or more"),
    ],
)
def test_wrong_use_is_one_message(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output and "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [(), ("--scan",), ("--format", "json")])
def test_a_stage_that_cannot_be_read_is_told_and_is_no_success(tmp_path, arguments):
    """The others are right, so that there is no first bad one; still not every stage is as expected."""
    write_dump(tmp_path / "cut", scaled_text(), f"{scaled_text()}\n    (")
    result = run("cut", *arguments)
    assert result.exit_code == 2
    assert "01_after_Pass1 is neither right nor wrong: " in result.stderr
    assert "every stage is as expected" not in result.stdout
    if "json" in arguments:
        assert json.loads(result.stdout) is None
    else:
        assert "unreadable 01_after_Pass1" in result.stdout
        assert result.stdout.splitlines()[-1] == "every other stage is as expected"
