"""``pypto-tmpl exec`` and ``pypto-tmpl run``: kernel files as users write them."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.cli import main

HARNESS = """\
import argparse
import torch
from golden import TensorSpec, run

parser = argparse.ArgumentParser()
parser.add_argument("-p", "--platform", default="a2a3")
parser.add_argument("--wrong", type=float, default=0)
args = parser.parse_args()


def reference(values):
    values["y"][:] = values["x"] + args.wrong


result = run(
    program="copy.msgpack",
    specs=[
        TensorSpec("x", [4, 8], torch.float32, torch.randn),
        TensorSpec("y", [4, 8], torch.float32, is_output=True),
    ],
    golden_fn=reference,
    runtime_cfg=dict(platform=args.platform, device_id=0),
    rtol=1e-3,
    atol=1e-3,
)
if not result.passed:
    print(result.error)
    raise SystemExit(1)
"""
CONVENTION = """\
import torch
from pypto import ir

PROGRAM, OUTPUTS = ir.deserialize_from_file("copy.msgpack"), ["y"]


def make_inputs():
    return {"x": torch.randn(4, 8), "y": torch.zeros(4, 8)}


def golden(t):
    t["y"][:] = t["x"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    ir.serialize_to_file(kernels.copy(), "copy.msgpack")
    Path("kernel.py").write_text(HARNESS)
    Path("plain.py").write_text(CONVENTION)
    return tmp_path


def tensors(report):
    """Names and verdicts in a report's one stage."""
    (stage,) = json.loads(Path(report).read_text())["stages"]
    return [(tensor["name"], tensor["passed"]) for tensor in stage["tensors"]]


def invoke(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_exec_runs_a_script_with_its_own_flags():
    done = invoke("exec", "kernel.py", "-p", "a2a3sim")
    assert (done.exit_code, "[RUN] PASS (" in done.output) == (0, True), done.output
    done = invoke("exec", "kernel.py", "-p", "a2a3sim", "--wrong", "1")
    assert (done.exit_code, "Output(s) does not match golden: ['y']" in done.output) == (1, True)


def test_exec_shows_errors_of_the_script_from_its_own_line_on():
    Path("broken.py").write_text("def inner():\n    raise LookupError('here')\n\n\ninner()\n")
    done = invoke("exec", "broken.py")
    assert done.exit_code == 1
    lines = [line for line in done.stderr.splitlines(keepends=True) if set(line) - set(" ~^\n")]
    assert "".join(lines) == (
        "Traceback (most recent call last):\n"
        '  File "broken.py", line 5, in <module>\n'
        "    inner()\n"
        '  File "broken.py", line 2, in inner\n'
        "    raise LookupError('here')\n"
        "LookupError: here\n"
    )


def test_exec_shows_errors_of_a_kernel_without_traceback():
    Path("kernel.py").write_text("import pypto.language as pl\n\n\n@pl.function\ndef f(x):\n    return x\n")
    done = invoke("exec", "kernel.py")
    assert done.exit_code == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error[E101]: ")
    assert "kernel.py:5:7" in done.stderr


def test_exec_lists_what_is_answered():
    done = invoke("exec", "--list")
    assert done.exit_code == 0
    assert any(line.startswith("pypto.language: ") and " jit, " in line for line in done.output.splitlines())
    assert invoke("exec").exit_code == 2
    assert invoke("exec", "nothing.py").exit_code == 2


def test_run_chooses_the_platform():
    done = invoke("run", "kernel.py")
    assert (done.exit_code, "[RUN] PASS (" in done.output) == (0, True), done.output
    done = invoke("run", "kernel.py", "--platform", "a2a3", "--", "-p", "a2a3sim")
    assert (done.exit_code, "needs a real Ascend NPU" in done.output) == (1, True), done.output


def test_run_seeds_inputs_and_uses_earlier_data():
    assert invoke("run", "kernel.py", "--seed", 3).exit_code == 0
    (build,) = Path("build_output").iterdir()
    torch.manual_seed(3)
    assert torch.equal(torch.load(build / "data/in/x.pt"), torch.randn(4, 8))
    done = invoke("run", "--golden-data", build / "data", "kernel.py")
    assert f"[RUN]   cache hit: {build}/data/in" in done.output


def test_run_saves_data_or_not():
    assert invoke("run", "--no-save-data", "kernel.py").exit_code == 0
    (build,) = Path("build_output").iterdir()
    assert not (build / "data/in").exists()


def test_run_reports_a_failure():
    done = invoke("run", "kernel.py", "--wrong", "1", "--report", "wrong.json")
    assert done.exit_code == 1
    assert done.output.splitlines()[-1] == "report: wrong.json"
    assert tensors("wrong.json") == [("y", False)]
    assert invoke("run", "--report", "wrong.html", "kernel.py", "--wrong", "1").exit_code == 1
    assert "<html" in Path("wrong.html").read_text()
    assert invoke("run", "--report", "fine.json", "--no-save-data", "kernel.py").exit_code == 0
    assert tensors("fine.json") == [("y", True)]
    done = invoke("run", "--report", "wrong.txt", "kernel.py")
    assert (done.exit_code, "[RUN]" in done.output) == (2, False)


def test_run_reports_the_first_failure_whatever_the_script_leaves():
    text = HARNESS.replace("result = run(", "def once(offset):\n  args.wrong = offset\n  return run(", 1)
    text = text.replace("golden_fn=reference", "golden_fn=reference, compile_cfg=dict(dump_passes=False)")
    text += "[once(0), once(0.5), once(0), once(2)]\n"
    Path("four.py").write_text(
        text.replace("if not result.passed:\n    print(result.error)\n", "if False:\n")
    )
    done = invoke("run", "--report", "four.json", "four.py")
    assert (done.exit_code, done.output.count("[RUN] PASS (")) == (1, 2), done.output
    (tensor,) = json.loads(Path("four.json").read_text())["stages"][0]["tensors"]
    assert tensor["max_abs_diff"] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "stage"),
    [([], "49_after_MaterializeValidShapeSymbols"), (["--stage", "frontend"], "00_frontend"),
     (["--stage", "ConvertToSSA"], "04_after_ConvertToSSA"), (["--stage", "45"], "45_after_Simplify")],
)  # fmt: skip
def test_run_chooses_the_stage(words, stage):
    done = invoke("run", *words, "--build-dir", "build", "kernel.py")
    assert done.exit_code == 0, done.output
    manifest = json.loads(Path("build/manifest.json").read_text())
    assert manifest["script"]["stage"] == stage


def test_run_of_an_unknown_stage_is_wrong_usage():
    done = invoke("run", "--stage", "ConvertToSSS", "kernel.py")
    assert (done.exit_code, "[RUN]" in done.output) == (2, False)
    assert "there is no stage 'ConvertToSSS'" in done.output and "did you mean 'ConvertToSSA'" in done.output


def test_run_of_a_file_that_calls_no_harness():
    done = invoke("run", "plain.py")
    assert (done.exit_code, "[RUN]   'y' PASS" in done.output) == (0, True), done.output
    Path("plain.py").write_text(CONVENTION.replace('= t["x"]', '= t["x"] + 1'))
    done = invoke("run", "plain.py")
    assert (done.exit_code, "does not match golden" in done.output) == (1, True)


def test_run_of_a_file_without_a_kernel():
    Path("empty.py").write_text("PROGRAM = 1\n")
    done = invoke("run", "empty.py")
    assert done.exit_code == 2
    assert done.stderr == (
        "the file calls neither golden.run nor golden.run_jit, and defines no OUTPUTS, make_inputs, golden\n"
        "   = a file that calls no harness defines: PROGRAM, OUTPUTS, make_inputs, golden\n"
    )


@pytest.mark.parametrize("file", ["kernel.py", "plain.py"])
def test_run_leaves_a_file_in_the_way(file):
    Path("build/torch").mkdir(parents=True)
    Path("build/torch/main.py").write_text("mine\n")
    done = invoke("run", file, "--build-dir", "build")
    assert (done.exit_code, Path("build/torch/main.py").read_text()) == (2, "mine\n"), done.output
    assert "FAIL: compile: error[not-generated]: this file was not written by pypto_tmpl" in done.output


def test_run_of_inputs_that_fail():
    Path("plain.py").write_text(CONVENTION.replace("return {", "raise LookupError('gone')\n    return {"))
    done = invoke("run", "plain.py")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, "LookupError: gone")


@pytest.mark.parametrize("command", ["exec", "run"])
def test_a_script_that_python_cannot_read(command):
    Path("syntax.py").write_text("def kernel(:\n")
    done = invoke(command, "syntax.py")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0] == '  File "syntax.py", line 1'
    assert done.stderr.splitlines()[-1] == "SyntaxError: invalid syntax"
