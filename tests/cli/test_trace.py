"""``pypto-tmpl trace`` and ``trace diff``: what they write and print, and their exit codes."""

import pytest
import torch
from click.testing import CliRunner
from scaled_dumps import inputs, scaled_text, write_dump

from pypto_tmpl.cli import main
from pypto_tmpl.debug import load_trace


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name, value in inputs().items():
        torch.save(value, tmp_path / f"in/{name}.pt")
    unknown = scaled_text().replace("muls", "nosuch")
    write_dump(tmp_path / "dump", scaled_text(), scaled_text(odd=3.0), unknown)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["trace", *arguments])


def test_trace_and_diff(folder):
    result = run("dump/00_frontend.py", "--inputs", "in", "--out", "t0")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("30 values of 6 names (")
    assert result.output.endswith("of 00_frontend in t0; lanes: caller\n")
    assert run("dump/01_after_Pass1.py", "--inputs", "in", "--out", "t1").exit_code == 0
    same = run("diff", "t0", "t0")
    assert (same.exit_code, same.output) == (0, "all 20 values that both traces have agree\n")
    different = run("diff", "t0", "t1")
    assert different.exit_code == 1
    lines = different.output.splitlines()
    assert lines[0].split() == ["name", "function", "values", "differ", "max_abs_diff", "note"]
    assert [line.split() for line in lines[1:3]] == [
        ["b", "main", "4", "4", "2.048000e+03"],
        ["out", "main", "8", "4", "2.048000e+03"],
    ]
    assert "first value that differs: b, in main" in lines
    assert any(line.startswith("        at dump/01_after_Pass1.py:10, generated line ") for line in lines)


def test_a_selection_and_a_limit(folder):
    result = run(
        *("dump/00_frontend.py", "--inputs", "in", "--out", "t", "--name", "a", "--last", "3"),
        *("--limit", "2K", "--kernel", "ma*", "--statement", "00_frontend.py:9"),
    )
    assert result.exit_code == 0, result.output
    trace = load_trace("t")
    assert [record.at for record in trace.records] == [(16,), (32,), (48,)]
    assert "note: 1 of 3 values were left out: more than the limit of 2048 bytes" in result.output
    nothing = run("dump/00_frontend.py", "--inputs", "in", "--out", "t", "--name", "nosuch")
    assert nothing.exit_code == 2
    assert "nothing in 00_frontend matches the selection\n   = --name nosuch\n" in nothing.output
    assert len(load_trace("t").records) == 3, "the former trace stays"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("dump", "--inputs", "in", "--out", "t"), 2, "has 3 dumps; name one"),
        (("dump/02_after_Pass2.py", "--inputs", "in", "--out", "t"), 2, "nosuch"),
        (("dump/00_frontend.py", "--inputs", "in", "--out", "t", "--limit", "much"), 2, "is no size"),
        (("dump/00_frontend.py", "--inputs", "none", "--out", "t"), 2, "there is no 'none'"),
        (("dump/00_frontend.py", "--inputs", "in"), 2, "--out"),
        (("diff", "in", "in"), 2, "there is no trace in 'in'"),
    ],
)
def test_wrong_use_is_one_message(folder, arguments, code, message):
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.output and "Traceback" not in result.output


def test_a_script_that_fails_leaves_its_values(folder):
    text = scaled_text().replace("            b: pl.Tensor[[8, 32]", "            b: pl.Tensor[[8, 16]")
    write_dump(folder / "bad", text)
    result = run("bad/00_frontend.py", "--inputs", "in", "--out", "t")
    assert result.exit_code == 1
    assert "the script failed; the values before that are there\nValueError: b: got shape" in result.output
    assert load_trace("t").failure.place.variable == "b"
