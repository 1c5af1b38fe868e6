"""``passes`` and ``lower``: the list, the stages, the options, and one message for what goes wrong."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl import backend, ir
from pypto_tmpl.cli import main

RECORDED = Path(__file__).resolve().parents[1] / "passes/recorded/ConvertToSSA/while_escapes_Ascend950"
KERNEL = """
import pypto.language as pl

@pl.program
class Doubled:
    @pl.function
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out = pl.assemble(out, pl.add(x, x), [0, 0])
        return out
"""


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    return path


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def test_passes_lists_properties():
    lines = run("passes").stdout.splitlines()
    at = lines.index(" 7  FlattenCallExpr")
    assert lines[at + 1 : at + 3] == [
        "      requires SSAForm, NormalizedStmtStructure",
        "      produces SSAForm, NoNestedCalls, NormalizedStmtStructure",
    ]
    numbered = [line for line in lines if not line.startswith("     ")]
    assert len(numbered) == 49 and numbered[33] == "34  MemoryReuse"
    assert numbered[-1] == "49  MaterializeValidShapeSymbols"


def test_a_planner_and_a_strategy_leave_passes_out():
    listed = run("passes", "--planner", "ptoas", "--strategy", "DebugTileOptimization").stdout
    assert "MemoryReuse" not in listed and "OutlineIncoreScopes" not in listed
    assert " 8  LowerCompositeOps" in listed


def test_buffers_come_last_and_their_text_is_no_source(kernel, tmp_path):
    assert run("passes", "--buffers").stdout.splitlines()[-4:] == [
        "50  LowerToBuffers",
        "      requires SSAForm, HasMemRefs, TileOps2D",
        "      produces DestinationPassing",
        "      invalidates NoNestedCalls",
    ]
    text = tmp_path / "last.py"
    result = run("lower", kernel, "--backend", "Ascend910B", "--buffers", "-o", text)
    assert result.exit_code == 0, result.output
    assert "[...] = pl.tile.add(" in text.read_text()
    assert (
        run(
            "lower", kernel, "--backend", "Ascend910B", "--buffers", "-o", tmp_path / "last.msgpack"
        ).exit_code
        == 0
    )
    result = run("gen", text)
    assert (
        result.exit_code == 2 and "this is Buffer text, which is no source that can be read" in result.output
    )
    assert "hint: read last.msgpack, which holds the same program" in result.output
    result = run("lower", kernel, "--backend", "Ascend910B", "--until", "LowerToBuffers")
    assert result.exit_code == 2 and "--until LowerToBuffers: no such pass" in result.output


def test_lower_prints_what_was_recorded(tmp_path):
    result = run("lower", RECORDED / "before.msgpack", "--until", "ConvertToSSA")
    assert result.exit_code == 0, result.output
    (tmp_path / "got.py").write_text(result.stdout)
    assert run("diff", tmp_path / "got.py", RECORDED / "after.msgpack").stdout == "structurally equal\n"


def test_lower_dumps_every_stage_of_a_source_text(kernel, tmp_path):
    options = ("--until", 9, "--dump", tmp_path / "dump", "--backend", "Ascend950", "--verify", "roundtrip")
    result = run("lower", kernel, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    stages = sorted(path.name for path in (tmp_path / "dump").iterdir())
    assert len(stages) == 20 and stages[:2] == ["00_frontend.msgpack", "00_frontend.py"]
    assert stages[-1] == "09_after_OutlineIncoreScopes.py"
    assert "def main_incore_0(" in (tmp_path / "dump" / stages[-1]).read_text()


@pytest.mark.parametrize("name", ["out.py", "out.msgpack"])
def test_lower_writes_the_last_stage(name, kernel, tmp_path):
    assert run("lower", kernel, "--until", "OutlineIncoreScopes", "-o", tmp_path / name).exit_code == 0
    assert run("print", tmp_path / name).stdout.count("pl.FunctionType.InCore") == 1


def test_a_name_that_is_no_pass(kernel):
    result = run("lower", kernel, "--until", "ConvertToSSa")
    assert result.exit_code == 2
    assert "--until ConvertToSSa: no such pass" in result.stderr
    assert "did you mean 'ConvertToSSA'?" in result.stderr
    assert run("lower", kernel, "--until", "0").exit_code == 2


def test_what_a_pass_refuses_names_function_line_and_pass(tmp_path):
    path = tmp_path / "kernel.py"
    loop = ["        for i in pl.unroll(2000):", "            x = pl.neg(x)"]
    path.write_text(KERNEL.replace("        with", "\n".join([*loop, "        with"]), 1))
    result = run("lower", path, "--until", "UnrollLoops")
    assert result.exit_code == 2
    assert result.stderr.startswith("error[pass]: ")
    assert f"{path}:8" in result.stderr and "in function 'main'" in result.stderr
    assert result.stderr.endswith("in the pass UnrollLoops\n")


@pytest.mark.parametrize(
    ("variable", "allowed"),
    [
        ("PYPTO_VERIFY_LEVEL", "none, basic, roundtrip"),
        ("PYPTO_WARNING_LEVEL", "none, pre_pipeline, post_pass, post_pipeline"),
    ],
)
def test_a_setting_of_the_environment_that_there_is_not(kernel, monkeypatch, variable, allowed):
    monkeypatch.setenv(variable, "foo")
    result = run("lower", kernel, "--until", "3")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"error[setting]: the environment variable {variable} is 'foo'\n   = it may be: {allowed}\n"
    )


def test_no_stage_is_left_of_a_pass_that_refuses(tmp_path):
    path = tmp_path / "kernel.py"
    loop = ["for i in pl.range(3):", "    x = pl.neg(x)", "if i == 2:", "    x = pl.neg(x)", "with"]
    path.write_text(KERNEL.replace("        with", "\n".join(" " * 8 + line for line in loop), 1))
    result = run("lower", path, "--until", 4, "--dump", tmp_path / "dump")
    assert result.exit_code == 2
    assert result.stderr == (
        "error[pass]: the loop variable 'i' is read outside of its loop\n"
        f"  --> {path}:10:9\n"
        "   = in function 'main', variable 'i'\n"
        "   = in the pass ConvertToSSA\n"
    )
    assert not list((tmp_path / "dump").glob("04*"))


def test_a_function_is_no_program(tmp_path):
    node = ir.deserialize_from_file(str(RECORDED / "before.msgpack"))
    path = tmp_path / "function.msgpack"
    ir.serialize_to_file(next(iter(node.functions.values())), str(path))
    result = run("lower", path, "--until", "ConvertToSSA")
    assert result.exit_code == 2
    assert "'function.msgpack' holds a function, and passes run on programs" in result.stderr


def test_passes_are_completed():
    from cli.test_group import completed

    assert completed("lower", "kernel.py", "--until", typed="FlattenC") == ["FlattenCallExpr"]
