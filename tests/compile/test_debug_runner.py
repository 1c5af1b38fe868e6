"""``debug/run.py`` of a build: what it is called with, and whose file it is."""

import ast
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.compile import debug_runner
from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.runtime.manifest import read_manifest


def compiled(folder, program=None, **knobs):
    return ir.compile(program or kernels.scale(), folder, skip_ptoas=True, **knobs)


def inputs_of(text):
    """What the script calls the program with, executed."""
    namespace = {"__name__": "run"}
    exec(text, namespace)
    return namespace["_inline_inputs"]()


def test_the_inputs_are_what_the_program_takes(tmp_path):
    compiled(tmp_path)
    text = (tmp_path / "debug/run.py").read_text()
    x, n, y = inputs_of(text)
    assert (x.shape, x.dtype, n) == ((4, 8), torch.float32, None)
    assert x.count_nonzero() > 0
    assert torch.equal(y, torch.zeros(4, 8))
    assert "    n = None  # TODO: a number (FP32)\n" in text
    compare = next(s for s in ast.parse(text).body if getattr(s, "name", "") == "_user_compare")
    assert [arg.arg for arg in compare.args.args] == ["x", "n", "y"]
    assert "debug/run.py" in read_manifest(tmp_path).files


DTYPES = {
    "FP16": torch.float16, "BF16": torch.bfloat16, "FP32": torch.float32, "FP8E4M3FN": torch.float8_e4m3fn,
    "FP8E5M2": torch.float8_e5m2, "FP8E8M0": torch.float8_e8m0fnu, "HF8": torch.uint8, "BOOL": torch.bool,
    "INT4": torch.int8, "INT8": torch.int8, "INT64": torch.int64, "UINT8": torch.uint8,
    "UINT16": torch.uint16, "UINT64": torch.uint64, "INDEX": torch.int64,
}  # fmt: skip


@pytest.mark.parametrize("direction", ["In", "Out", "InOut"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_has_numbers(tmp_path, dtype, direction):
    compiled(tmp_path)
    entry = Entry("main", "main", (Parameter("class", direction, dtype, (2, "N", 3)),))
    text = debug_runner.runner_text(replace(read_manifest(tmp_path), entry=entry))
    [value] = inputs_of(text)
    assert (value.dtype, value.shape) == (DTYPES[dtype], (2, 1, 3))
    assert "# N is 1 here" in text
    bits = value.view(torch.uint8)
    assert (bits.count_nonzero() == 0) == (direction == "Out") or dtype in ("BOOL", "FP8E8M0")
    if dtype not in ("BOOL", "FP8E8M0") and "FP" not in dtype and dtype != "BF16":
        assert value.to(torch.int64).max() < 8


def test_two_of_fp4_are_one_of_torch(tmp_path):
    compiled(tmp_path)
    entry = Entry("main", "main", (Parameter("x", "In", "FP4", (4, 32)),))
    text = debug_runner.runner_text(replace(read_manifest(tmp_path), entry=entry))
    assert "torch.randint(0, 256, [4, 16], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)" in text


def test_an_edited_one_stays_and_one_as_it_was_is_replaced(tmp_path):
    compiled(tmp_path)
    script = tmp_path / "debug/run.py"
    compiled(tmp_path, kernels.copy())
    assert "arguments of main" in script.read_text()
    assert "    n = None" not in script.read_text()
    script.write_text("# mine\n")
    compiled(tmp_path)
    assert script.read_text() == "# mine\n"
    assert "debug/run.py" not in read_manifest(tmp_path).files


@pytest.mark.parametrize("value", ["0", "false", "no", "No"])
def test_the_environment_can_do_without(tmp_path, monkeypatch, value):
    monkeypatch.setenv("PYPTO_EMIT_DEBUG_RUNNER", value)
    compiled(tmp_path)
    assert not (tmp_path / "debug").exists()


@pytest.mark.slow
def test_it_runs_as_it_is_and_says_what_it_lacks(tmp_path):
    compiled(tmp_path / "copy", kernels.copy())
    compiled(tmp_path / "scale")

    def run(name):
        command = [sys.executable, str(tmp_path / name / "debug/run.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    assert run("copy") == (0, f"PASS (nothing was validated): {tmp_path / 'copy'}\n", "")
    assert run("scale") == (1, "", "error[replay]: _inline_inputs() gives no number for n\n")


def test_a_program_of_several_ranks_is_called_with_parts_for_all(tmp_path):
    """NR counts the ranks, being the first extent; N does not."""
    manifest = read_manifest(ir.compile(kernels.scale(), tmp_path, skip_ptoas=True).output_dir)
    parts = Parameter("x", "In", "FP32", ("NR", 4, "N"))
    entry = Entry("host", "host", (parts, Parameter("w", "In", "FP32", ("N", "NR"))))
    text = debug_runner.runner_text(replace(manifest, entry=entry, device_ids=(5, 3)))
    assert "torch.randn([2, 4, 2], dtype=torch.float32)  # NR, N are 2 here\n" in text
    entry = replace(entry, parameters=(parts,))
    text = debug_runner.runner_text(replace(manifest, entry=entry, device_ids=(5, 3)))
    assert "torch.randn([2, 4, 1], dtype=torch.float32)  # N is 1, NR is 2 here\n" in text
    text = debug_runner.runner_text(replace(manifest, entry=entry))
    assert "torch.randn([1, 4, 1], dtype=torch.float32)  # NR, N are 1 here\n" in text
