"""The README: its scripts are real ones, and its commands run as they stand, in a fresh clone."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.codegen.layout import program_part
from pypto_tmpl.debug import torch_codegen

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
DUMP = ROOT / "tests/corpus/dumps/ragged_tail_max/Ascend910B/00_frontend.msgpack"
PARTS = ("pyproject.toml", "examples", "golden_scripts", "templates", "pypto_tmpl", "tests/corpus")
SETUP = ("make demo", "make test", "make setup", ". .venv/bin/activate")  # tested by every run of the tests
DIFFERS = ("pypto-tmpl diff ",)  # exit code 1 is what they are shown for


def blocks(language):
    return [found["text"] for found in FENCE.finditer(README) if found["language"] == language]


def commands():
    lines = [line for text in blocks("console") for line in text.splitlines() if line.startswith("$ ")]
    return [line.removeprefix("$ ").partition("  #")[0].strip() for line in lines]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What the commands read of a clone; they share it, in their order."""
    folder = tmp_path_factory.mktemp("clone")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    return folder


def test_what_comes_first_is_the_program_part_of_a_script():
    """Of the kernel of ragged_tail_max, without scratch tiles and docstring."""
    first = README.partition("```python\n")[2].partition("```")[0].splitlines()
    emitted = program_part(torch_codegen(ir.deserialize_from_file(str(DUMP)), format=True)).splitlines()
    own = list(takewhile(str.strip, emitted[emitted.index(first[0]) :]))
    assert [line for line in own if line in first] == first
    assert len(README.partition("```python\n")[0].splitlines()) <= 5


def test_the_dump_is_a_real_one():
    lines = [line.strip() for line in DUMP.with_suffix(".py").read_text().splitlines()]
    shown = next(text for text in blocks("python") if text.startswith("head: "))
    assert [line for line in shown.splitlines() if line.strip() not in lines] == []


@pytest.mark.slow
def test_every_command_runs_as_it_stands(clone, monkeypatch):
    monkeypatch.chdir(clone)
    monkeypatch.setenv("PYTHONPATH", str(clone))
    found = commands()
    assert len(found) >= 15
    for command in found:
        if command in SETUP:
            continue
        program, *arguments = shlex.split(command)
        expected = 1 if command.startswith(DIFFERS) else 0
        if program == "pypto-tmpl":
            result = CliRunner().invoke(main, arguments)
            assert result.exit_code == expected, f"{command}\n{result.output}"
        else:
            program = sys.executable if program == "python" else program
            done = subprocess.run([program, *arguments], capture_output=True, text=True)
            assert done.returncode == expected, f"{command}\n{done.stdout}{done.stderr}"
    assert (clone / "build/kernel.py").read_text().startswith('"""')
    assert (clone / "build/report.html").is_file()


def test_targets_of_make_are_those_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]\S*?)[`\s]", README)) <= targets


def test_the_code_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = next(text for text in blocks("python") if text.startswith("import torch\n"))
    exec(compile(code, "<README.md>", "exec"), {})
    assert capsys.readouterr().out == "True\n"


def test_files_that_it_names_are_there():
    links = re.findall(r"\]\(([\w./-]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_demo_is_short_and_ends_in_a_verdict():
    command = [sys.executable, str(ROOT / "examples/demo.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 60
    assert "@pl.program" in lines
    assert "def main(x__ssa_v0, out__ssa_v0):" in lines
    assert re.fullmatch(r"# main\(\.\.\.\) ran: 'out' agrees with the golden within .*", lines[-1])
