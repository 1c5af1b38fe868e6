"""``pypto-tmpl bisect``: what it prints, its exit codes, and the report that it writes."""

import json

import pytest
import torch
from click.testing import CliRunner
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Five stages of which the last two are wrong, and two right ones; all differ in their IR."""
    monkeypatch.chdir(tmp_path)
    torch.save(inputs(), "in.pt")
    torch.save(expected(), "out.pt")
    right = [scaled_text(2.0 + n * 1e-7) for n in range(3)]
    write_dump(tmp_path / "dump", *right, scaled_text(odd=3.0), scaled_text(2.0000004, 3.0))
    write_dump(tmp_path / "good", *right[:2])
    return tmp_path


def run(dump, *arguments):
    words = ["bisect", dump, "--inputs", "in.pt", "--expected", "out.pt", *arguments]
    return CliRunner().invoke(main, words)


def test_the_statement_is_named(folder):
    result = run("dump")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert "first bad stage: 03_after_Pass3 (last good: 02_after_Pass2; binary search)" in lines
    assert "    variable: b" in lines and "    source: dump/03_after_Pass3.py:10" in lines
    assert "wrong  03_after_Pass3" in lines


def test_a_dump_that_is_right(folder):
    result = run("good")
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "every stage is as expected")


def test_json(folder):
    found = json.loads(run("dump", "--format", "json").output)
    assert (found["first_bad"], found["place"]["variable"]) == ("03_after_Pass3", "b")
    assert json.loads(run("good", "--format", "json").output) is None


def test_a_page(folder):
    assert run("dump", "--report", "r.html").exit_code == 1
    text = (folder / "r.html").read_text()
    assert "First bad stage: 03_after_Pass3 computes something else than expected" in text
    assert "<dd>dump/03_after_Pass3.py:10</dd>" in text and "<dd>binary search</dd>" in text
    # The ends and the middle of five stages, then the one after the middle.
    assert "4 of 5 stages checked" in text and '"levels":"' in text
    assert "pypto-tmpl validate dump/03_after_Pass3.py --inputs in.pt --expected out.pt --only out" in text


def test_plain_data(folder):
    assert run("dump", "--report", "r.json").exit_code == 1
    found = json.loads((folder / "r.json").read_text())
    assert found["first_divergence"]["place"]["source"] == "dump/03_after_Pass3.py:10"
    assert [stage["passed"] for stage in found["stages"]] == [True, True, False, False]


def test_the_name_of_no_report(folder):
    result = run("dump", "--report", "r.txt")
    assert (result.exit_code, result.output) == (
        2,
        "error[report]: a report is a .html or .json file, got 'r.txt'\n",
    )
