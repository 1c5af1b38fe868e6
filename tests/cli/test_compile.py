"""``compile``: what may be given, the knobs, what is told, and one message for what goes wrong."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl import backend, ir
from pypto_tmpl.cli import main
from pypto_tmpl.runtime.manifest import read_manifest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = """
import pypto.language as pl

@pl.program
class Doubled:
    @pl.function
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out = pl.assemble(out, pl.add(x, x), [0, 0])
        return out
"""
SECOND = PROGRAMS.replace("Doubled", "Squared").replace("pl.add", "pl.mul")
JIT = """
import pypto.language as pl

@pl.jit
def tripled({parameters}):
    with pl.at(level=pl.Level.CORE_GROUP):
        out = pl.assemble(out, pl.mul(x, 3.0), [0, 0])
    return out
"""
DECLARED = JIT.format(parameters="x: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]")
OPEN = JIT.format(parameters="x: pl.Tensor, out: pl.Out[pl.Tensor]")
INPUTS = """
import torch

def make_inputs():
    return {"x": torch.ones(48, 16), "out": torch.zeros(48, 16)}
"""
HARNESS = """
import sys
import torch
from golden import TensorSpec, run_jit

def never(tensors):
    raise AssertionError("a compilation computes no golden")

if __name__ == "__main__":
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    specs = [TensorSpec("x", [rows, 16], torch.float32, torch.ones),
             TensorSpec("out", [rows, 16], torch.float32, is_output=True)]
    assert run_jit(fn=tripled, specs=specs, golden_fn=never).passed
"""


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture
def compiled(tmp_path):
    """Compiles a text, of which ``name`` is meant, in the folder ``build``."""

    def call(text, *args, name=""):
        path = tmp_path / "kernel.py"
        path.write_text(text)
        return run(f"{path}{name}", "--build-dir", tmp_path / "build", *args)

    return call


def run(*args):
    return CliRunner().invoke(main, ["compile", *(str(arg) for arg in args)])


def shape_of(build):
    return read_manifest(build).entry.parameters[0].shape


def test_a_build_is_made_and_told(compiled, tmp_path):
    result = compiled(PROGRAMS)
    assert result.exit_code == 0, result.output
    build = tmp_path / "build"
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        f"build: {build}",
        "program: Doubled, for a2a3sim (Ascend910B)",
        f"script: {build / 'torch/main.py'}, made from 49_after_MaterializeValidShapeSymbols",
    ]
    texts = [path.read_text() for path in sorted((build / "passes_dump").glob("*.py"))]
    changes = sum(before != after for before, after in zip(texts, texts[1:], strict=False))
    assert lines[3] == f"stages: 50, {changes} of them change the program:"
    assert "  09_after_OutlineIncoreScopes" in lines[4 : 4 + changes]
    assert not (build / "data/in").exists()


@pytest.mark.parametrize(("name", "program"), [(":Squared", "Squared"), (":Doubled", "Doubled")])
def test_a_name_chooses_the_program(compiled, tmp_path, name, program):
    result = compiled(PROGRAMS + SECOND, name=name)
    assert result.exit_code == 0, result.output
    assert read_manifest(tmp_path / "build").program == program


def test_several_programs_need_a_name(compiled):
    result = compiled(PROGRAMS + SECOND + "import torch\n")
    assert result.exit_code == 2 and "defines 2 programs" in result.output


@pytest.mark.parametrize(
    ("text", "args", "shape"),
    [
        (DECLARED, (), (16, 32)),
        (OPEN + INPUTS, (), (48, 16)),
        (OPEN + HARNESS, (), (64, 16)),
        (OPEN + HARNESS, ("--", "80"), (80, 16)),
    ],
    ids=["annotations", "make_inputs", "run", "run with arguments"],
)
def test_a_jit_function_is_compiled_for_the_arguments_that_the_file_has(
    compiled, tmp_path, text, args, shape
):
    result = compiled(text, *args, name=":tripled")
    assert result.exit_code == 0, result.output
    assert shape_of(tmp_path / "build") == shape
    assert not list((tmp_path / "build/data").iterdir())


def test_a_jit_function_without_arguments_is_one_message(compiled):
    result = compiled(OPEN)
    assert result.exit_code == 2
    assert "does not say with which arguments 'tripled' is to be compiled" in result.output
    assert "define make_inputs()" in result.output


def test_every_knob_reaches_the_compilation(compiled, tmp_path):
    options = ("--platform", "a5sim", "--planner", "dsa_rp", "--dump-passes", "explicit", "--profiling")
    checks = ("--verify", "roundtrip", "--diagnostics", "none", "--disable", "UnusedVariable")
    result = compiled(PROGRAMS, *options, *checks, "--skip-ptoas", "--no-source-loc")
    assert result.exit_code == 0, result.output
    build = tmp_path / "build"
    manifest = read_manifest(build)
    assert (manifest.platform, manifest.backend) == ("a5sim", "Ascend950")
    stages = {path.stem.partition("_after_")[2] for path in (build / "passes_dump").glob("*.py")}
    assert "MemoryReuse" not in stages and "AllocateMemoryAddr" in stages
    assert not (build / "ptoas").exists()
    profile = json.loads((build / "report/pipeline_profile.json").read_text())
    passes = next(stage for stage in profile["stages"] if stage["name"] == "passes")
    assert len(passes["children"]) == 48
    assert (build / "report/pipeline_profile.txt").read_text().rstrip() in result.stdout


def test_stages_and_dumps_can_be_fewer(compiled, tmp_path):
    assert compiled(PROGRAMS, "--stage", "FlattenCallExpr").exit_code == 0
    assert read_manifest(tmp_path / "build").stage == "07_after_FlattenCallExpr"
    result = compiled(PROGRAMS, "--dump-passes", "none")
    assert result.exit_code == 0 and "stages: 0" in result.stdout


def test_a_dump_after_a_pass_is_taken_as_it_is(compiled, tmp_path):
    assert compiled(PROGRAMS).exit_code == 0
    dump = tmp_path / "build/passes_dump/38_after_DeriveCallDirections.msgpack"
    result = run(dump, "--build-dir", tmp_path / "second")
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "second/passes_dump").glob("*.msgpack")] == [
        "00_frontend.msgpack"
    ]
    ir.assert_structural_equal(
        ir.deserialize_from_file(str(dump)),
        ir.deserialize_from_file(str(tmp_path / "second/passes_dump/00_frontend.msgpack")),
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--disable", "Nothing"), "--disable Nothing: no such check; checks: UnusedVariable"),
        (("--stage", "Nothing"), "there is no stage 'Nothing'"),
        (("--platform", "a6"), "'a6' is not one of"),
    ],
)
def test_knobs_without_such_a_value_are_refused(compiled, args, said):
    result = compiled(PROGRAMS, *args)
    assert result.exit_code == 2 and said in result.output


def test_what_a_pass_refuses_is_one_message_that_says_where_the_stages_are(compiled, tmp_path):
    result = compiled(PROGRAMS.replace("[16, 16]", "[512, 512]"))
    assert result.exit_code == 2
    assert "AllocateMemoryAddr" in result.output and "main_incore_0" in result.output
    assert f"what was written until then: {tmp_path / 'build'}" in result.output
    assert (tmp_path / "build/passes_dump/32_after_InitMemRef.py").is_file()
    assert not (tmp_path / "build/manifest.json").exists()


def test_a_file_that_is_not_there(tmp_path):
    result = run(tmp_path / "none.py:Some")
    assert result.exit_code == 2 and "there is no file" in result.output


def test_the_knobs_of_device_code(compiled, tmp_path):
    result = compiled(PROGRAMS, "--runtime", "host_build_graph", "--dump-ptoas-passes")
    assert result.exit_code == 0, result.output
    assert '"runtime": "host_build_graph"' in (tmp_path / "build/kernel_config.py").read_text()


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("--distributed-config", "0,1"), "the program has no host that drives ranks"),
        (("--distributed-config", "0,x"), "--distributed-config 0,x: invalid literal"),
        (("--distributed-config", "1,1"), "must be distinct"),
        (("--nonsense",), "'--nonsense' is no option of compile"),
        (("--", "--rows"), "is not run, so that it takes no arguments"),
        (("--runtime", "other"), "'other' is not one of"),
        (("--stage", "nope"), "there is no stage 'nope'"),
    ],
)
def test_what_is_refused_makes_nothing(compiled, tmp_path, args, what):
    result = compiled(PROGRAMS, *args)
    assert result.exit_code == 2
    assert what in result.output
    assert not (tmp_path / "build").exists()
