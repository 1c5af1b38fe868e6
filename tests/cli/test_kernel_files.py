"""Kernel files with more in them than a dump has: their scripts, their runs, their endless loops."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main

KERNEL = """\
import math

import torch
import pypto.language as pl

FACTOR = math.sqrt(4.0)


@pl.program
class Scale:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        t: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [4, 8])
        u: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec] = pl.tile.muls(t, FACTOR)
        r: pl.Tensor[[4, 8], pl.FP32] = pl.tile.store(u, [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        self.kernel(x, y)


OUTPUTS = ["y"]


def make_inputs():
    return {"x": torch.ones(4, 8), "y": torch.zeros(4, 8)}


def golden(tensors):
    tensors["y"][:] = tensors["x"] * 2


if __name__ == "__main__":
    PROGRAM = Scale
    print("it runs")
"""
SECOND = KERNEL[KERNEL.index("@pl.program") : KERNEL.index("OUTPUTS")].replace("Scale", "Other")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    Path("kernel.py").write_text(KERNEL)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.mark.parametrize("command", ["gen", "print"])
def test_a_file_that_imports_torch_is_taken(command):
    done = invoke(command, "kernel.py")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "it runs" not in done.stdout
    assert ("u = t * 2.0" if command == "gen" else "pl.tile.muls(t, 2.0)") in done.stdout


def test_a_text_of_the_language_alone_is_not_run():
    Path("plain.py").write_text(
        "import pypto.language as pl\n" + KERNEL[KERNEL.index("@pl.program") : KERNEL.index("OUTPUTS")]
    )
    done = invoke("gen", "plain.py")
    assert done.exit_code == 2 and "FACTOR" in done.stderr


def test_one_of_several_programs_is_chosen_by_name():
    Path("two.py").write_text(KERNEL.replace("OUTPUTS", SECOND + "OUTPUTS", 1))
    done = invoke("gen", "two.py")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error[kernel-file]: two.py defines 2 programs, where one is expected\n")
    assert "it defines: Scale, Other; choose one with --program" in done.stderr
    assert invoke("gen", "two.py", "--program", "Other").stdout.count("t * 2.0") == 1
    assert "defines no program or function 'Third'" in invoke("gen", "two.py", "--program", "Third").stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import torch\n", "defines no programs, where one is expected"),
        ("import torch\nraise LookupError('gone')\n", "LookupError: gone"),
        ("import torch\nraise SystemExit(3)\n", "ended by itself, with exit status 3"),
        (
            "import torch\nimport pypto.language as pl\n@pl.jit\ndef f(x: pl.Tensor): pass\n",
            "JIT functions get their program from their arguments (f): use `pypto-tmpl run`",
        ),
    ],
)
def test_what_defines_no_program_is_told(text, told):
    Path("other.py").write_text(text)
    done = invoke("gen", "other.py")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error[kernel-file]: ") and told in done.stderr


def runnable(text):
    Path("kernel.py").write_text(
        text.replace("OUTPUTS", "PROGRAM, OUTPUTS", 1).replace('= ["y"]', '= Scale, ["y"]')
    )


def test_a_run_says_where_its_script_is(folder):
    runnable(KERNEL)
    done = invoke("run", "kernel.py")
    assert done.exit_code == 0, done.output
    verdict, build, script = done.stdout.splitlines()[-3:]
    assert verdict.startswith("PASS (")
    path = Path(script.removeprefix("script: "))
    assert path.is_file() and "def kernel(x__ssa_v0, y__ssa_v0):" in path.read_text()
    assert Path(build.removeprefix("build: ")) in path.parents


def test_a_run_exports_the_times_of_its_statements(folder):
    runnable(KERNEL)
    done = invoke("run", "kernel.py", "--export-kernel-insight", "--build-dir", "here")
    assert done.exit_code == 0, done.output
    root = Path(done.stdout.splitlines()[-1].removeprefix("kernel insight: "))
    assert root.parent == folder / "here" and "exported=1" in (root / "summary.txt").read_text()


def test_a_run_has_a_folder_of_its_own_or_the_one_that_is_named(folder):
    runnable(KERNEL)
    assert {invoke("run", "kernel.py").exit_code for _ in range(2)} == {0}
    assert len([*Path("build_output").iterdir()]) == 2
    for factor in ("4.0", "9.0"):  # over what is there
        runnable(KERNEL.replace("math.sqrt(4.0)", f"math.sqrt({factor})"))
        done = invoke("run", "kernel.py", "--build-dir", "here")
        assert (done.exit_code == 0) == (factor == "4.0")
        assert f"build: {folder / 'here'}" in done.stdout.splitlines()
    assert "u__ssa_v0 = t__ssa_v0 * 3.0" in Path("here/torch/main.py").read_text()
    assert len([*Path("build_output").iterdir()]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("golden", r"kernel\.py:\d+ in golden"),
        ("kernel", r"torch/main\.py:\d+ in \S+"),  # whatever runs there just then
        ("script", r"kernel\.py:\d+ in <module>"),
    ],
)
def test_what_does_not_end_is_ended(where, place):
    if where == "golden":
        runnable(KERNEL.replace('tensors["y"][:] =', "while True: pass\n    #"))
    elif where == "kernel":
        loop = "        for i in pl.range(0, 1000000000):\n    "
        store = "        r: pl.Tensor[[4, 8], pl.FP32] = pl.tile.store(u"
        runnable(KERNEL.replace(store, loop + store))
    else:
        runnable(KERNEL + "\nwhile True: pass\n")
    done = invoke("run", "kernel.py", "--time-limit", 15)
    assert done.exit_code == 1
    assert re.search(rf"not done after the time limit of 15 s, at .*{place}", done.output)
    assert invoke("run", "kernel.py", "--time-limit", 0).exit_code == 2
