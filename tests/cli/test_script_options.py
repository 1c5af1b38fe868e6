"""``pypto-tmpl options``, ``gen --source-map`` and ``validate --option``."""

import json
import os
import subprocess
import sys

import pytest
import torch
from click.testing import CliRunner
from codegen.builders import Acc, assign, load, program, ret, store, tile
from codegen.kernels import aic, aiv, group, out, pop_from_aic, push_to_aiv, x
from codegen.kernels import main as entry

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.debug import script_options


def run(*arguments, **rest):
    return CliRunner().invoke(main, list(map(str, arguments)), **rest)


def test_the_list_of_options():
    result = run("options")
    assert result.exit_code == 0
    for name, option in script_options().items():
        assert f"{name}  (default {option.default}; {option.variable})\n" in result.output
    assert (
        "strict_leftovers  (default False; PYPTO_TMPL_STRICT_LEFTOVERS)\n"
        "    Tiles left in a pipe when a group ends are an error instead of a warning.\n"
    ) in result.output


@pytest.fixture
def dump(tmp_path):
    """A program that deadlocks if pipe 1 is popped: nobody pushes there."""
    place = ir.Span("dir/kernel.py", 30, 5)
    t, u, v = tile("t", [4, 8], memory=Acc), tile("u", [4, 8]), tile("v", [4, 8])
    cube = aic(assign(t, load(x, [0, 0], [4, 8], memory=Acc)), push_to_aiv(t))
    vector = aiv(
        assign(u, pop_from_aic([4, 8])),
        ir.AssignStmt(v, pop_from_aic([4, 8], id=1), place),
        ret(store(v, [0, 0], out)),
    )
    path = tmp_path / "kernel.msgpack"
    path.write_bytes(ir.serialize(program(cube, vector, group(), entry())))
    return path


RUN = """
import torch, kernel
try:
    kernel.main(torch.zeros(4, 8), torch.zeros(4, 8))
except RuntimeError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_script_reads_the_source_lines_beside_it(dump, tmp_path):
    """No part of the project runs with the script."""
    result = run("gen", dump, "-o", tmp_path / "kernel.py", "--source-map")
    assert (result.exit_code, result.output) == (0, "")
    lines = (tmp_path / "kernel.py").read_text().splitlines()
    number = next(
        at for at, line in enumerate(lines) if line.startswith("    v = _cross_core_rt.pop_from_aic")
    )
    assert json.loads((tmp_path / "kernel.map.json").read_text()) == {str(number + 1): "dir/kernel.py:30"}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert f"kernel.py:{number + 1}: v = _cross_core_rt.pop_from_aic(0, id=1) (from dir/kernel.py:30);" in (
        done.stdout
    )


def test_a_source_map_needs_a_file_to_stand_beside(dump):
    result = run("gen", dump, "--source-map")
    assert result.exit_code == 2
    assert "--source-map writes beside the script: say where that goes with -o FILE" in result.output


def test_a_script_has_the_options_that_it_is_emitted_with(dump, monkeypatch):
    plain = run("gen", dump).output
    assert "Options:" not in plain and "poison" not in plain
    given = run("gen", dump, "--option", "poison", "--option", "schedule_seed=7").output
    assert "\nOptions: schedule_seed=7, poison=True\n" in given and "\n_SCHEDULE_SEED = 7\n" in given
    monkeypatch.setenv("PYPTO_TMPL_POISON", "1")
    assert "\nOptions: poison=True\n" in run("gen", dump).output
    assert run("gen", dump, "--option", "poison=0").output == plain  # what is given counts


def test_a_script_with_options_does_not_import_its_helpers(dump):
    result = run("gen", dump, "--preamble", "import", "--option", "poison")
    assert result.exit_code == 2
    assert "a script with options carries its helpers: preamble='script' or 'full'" in result.output


# validate --option


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A dump whose only stage leaves a tile in a pipe, with inputs and expected outputs."""
    monkeypatch.chdir(tmp_path)
    for option in script_options().values():
        monkeypatch.setenv(option.variable, "")
    t, u = tile("t", [4, 8], memory=Acc), tile("u", [4, 8])
    cube = aic(assign(t, load(x, [0, 0], [4, 8], memory=Acc)), push_to_aiv(t), push_to_aiv(t))
    vector = aiv(assign(u, pop_from_aic([4, 8])), ret(store(u, [0, 0], out)))
    (tmp_path / "dump").mkdir()
    stage = tmp_path / "dump" / "00_frontend.msgpack"
    stage.write_bytes(ir.serialize(program(cube, vector, group(), entry())))
    for name, tensors in (
        ("in", {"x": torch.ones(4, 8), "out": torch.zeros(4, 8)}),
        ("out", {"out": torch.ones(4, 8)}),
    ):
        (tmp_path / name).mkdir()
        for tensor, value in tensors.items():
            torch.save(value, tmp_path / name / f"{tensor}.pt")
    return tmp_path


def validate(*options):
    return run("validate", "dump", "--inputs", "in", "--expected", "out", "--jobs", "1", *options)


@pytest.mark.filterwarnings("ignore:group 'k' ended")
def test_an_option_of_the_scripts_that_are_validated(folder):
    assert validate().exit_code == 0
    result = validate("--option", "strict_leftovers")
    assert result.exit_code == 1
    assert "group 'k' ended with tiles left in its pipes" in result.output


def test_options_that_cannot_be(folder):
    result = validate("--option", "schedule_seed")
    assert (result.exit_code, "'schedule_seed' is an integer or none" in result.output) == (2, True)
    result = validate("--option", "strict=1")
    assert (result.exit_code, "scripts have no option 'strict'" in result.output) == (2, True)
    result = validate("--option", "poison=5")
    assert (result.exit_code, "option 'poison' is true or false, not 5" in result.output) == (2, True)
