"""The export of kernel insights: its files, what its timelines hold, and its errors."""

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.runtime.insight import COLUMNS, POINTER, export_insights, kernel_texts
from pypto_tmpl.runtime.manifest import read_manifest

MIXED = Path(__file__).parents[1] / "corpus/dumps/mixed_c2v_none/Ascend910B/00_frontend.msgpack"
TOOL = Path(__file__).parents[2] / "tools" / "export_all_kernel_insight.py"
NOON = time.strptime("2026-12-01 12:00:00", "%Y-%m-%d %H:%M:%S")


@pytest.fixture
def build(tmp_path):
    folder = tmp_path / "build"
    folder.mkdir()
    compile_program(kernels.scale(), folder, compile_options({}))
    return folder


def check_trace(data):
    """What viewers of Chrome traces need of a file."""
    assert data["displayTimeUnit"] == "ns" and data["otherData"]["simulated"] is True
    lanes = {event["tid"] for event in data["traceEvents"] if event["name"] == "thread_name"}
    bars = [event for event in data["traceEvents"] if event["ph"] == "X"]
    for event in data["traceEvents"]:
        assert event["ph"] in "MX" and isinstance(event["name"], str) and event["pid"] == 1
    for bar in bars:
        assert bar["tid"] in lanes and bar["ts"] >= 0 and bar["dur"] >= 0 and bar["args"]["simulated"] is True
    return bars


def test_a_kernel_has_a_bar_for_every_line_that_runs(build):
    run = export_insights(build, clock=lambda: NOON)
    assert run.root == build / "kernel_insight_all_funcs_20261201_120000"
    assert (build / POINTER).read_text() == f"{run.root}\n"
    (export,) = run.exports
    bars = check_trace(json.loads(export.trace.read_text()))
    script = (build / "torch/main.py").read_text().splitlines()
    assert [bar["args"]["line"] for bar in bars] == sorted({bar["args"]["line"] for bar in bars})
    for bar in bars:
        assert bar["name"] in script[bar["args"]["line"] - 1]
    lines = [int(bar["args"]["source"].removeprefix("scale.py:")) for bar in bars]
    assert lines == [10, 11, 12, 13]  # load, muls, store, return
    ends = [bar["ts"] + bar["dur"] for bar in bars]
    assert all(end <= bar["ts"] + 0.001 for end, bar in zip(ends, bars[1:], strict=False))


def test_the_files_of_an_export(build):
    run = export_insights(build, clock=lambda: NOON)
    files = sorted(path.relative_to(run.root).as_posix() for path in run.root.rglob("*") if path.is_file())
    simulator = "funcs/kernel/export/simulator"
    assert files == [
        "README.txt", f"{simulator}/statements.csv", f"{simulator}/trace.json", "manifest_export.csv",
        "summary.txt",
    ]  # fmt: skip
    (row,) = csv.DictReader((run.root / "manifest_export.csv").open())
    assert tuple(row) == COLUMNS
    assert (row["func"], row["status"], row["instr_csv_count"]) == ("kernel", "exported", "1")
    statements = list(csv.DictReader((run.root / simulator / "statements.csv").open()))
    assert {row["calls"] for row in statements} == {"1"}
    assert (run.root / "summary.txt").read_text().splitlines()[1:] == [
        "total=1", "exported=1", "failed=0", "", "exports:", f"kernel\texported\t{run.exports[0].trace}"
    ]  # fmt: skip


def test_kernels_of_a_group_have_one_text(tmp_path, monkeypatch):
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    program = ir.deserialize_from_file(str(MIXED))
    compile_program(program, Path("build"), compile_options({}))
    texts = kernel_texts(Path("build"), read_manifest(Path("build")))
    assert texts == dict.fromkeys(
        ("main_incore_0_aic", "main_incore_0_aiv"), Path("build/ptoas/main_incore_0.pto")
    )
    result = CliRunner().invoke(main, ["export-kernel-insight", "build", "--list-funcs"])
    assert result.stdout == "".join(f"{func}\tbuild/ptoas/main_incore_0.pto\n" for func in texts)
    run = export_insights(Path("build"))
    assert run.root.is_absolute() and run.root.parent == tmp_path / "build"
    lines = (run.root / "README.txt").read_text().splitlines()
    assert lines[1] == "source_count=1" and lines[4:] == [str(tmp_path / "build/ptoas/main_incore_0.pto")]


def test_the_saved_inputs_are_those_of_the_run(build, monkeypatch):
    (build / "data/in").mkdir()
    torch.save(torch.full((4, 8), 3.0), build / "data/in/x.pt")
    torch.save(torch.tensor(2.0), build / "data/in/n.pt")
    seen = []
    monkeypatch.setattr(
        "pypto_tmpl.runtime.insight.execute_build", lambda build, manifest, args, options: seen.extend(args)
    )
    export_insights(build)
    assert torch.equal(seen[0], torch.full((4, 8), 3.0)) and seen[1].value == 2.0
    assert torch.equal(seen[2], torch.zeros(4, 8))


def test_a_kernel_that_is_not_called_is_told_of(build, monkeypatch):
    monkeypatch.setattr("pypto_tmpl.runtime.insight.execute_build", lambda *given: None)
    result = CliRunner().invoke(main, ["export-kernel-insight", str(build)])
    lines = result.stdout.splitlines()
    assert (result.exit_code, lines[1:]) == (2, ["EXPORTED 0/1", "FAILED_FUNCS kernel:collect_failed"])
    assert lines[0].startswith(f"RUN_ROOT {build}/kernel_insight_all_funcs_")


def test_the_command_and_the_tool(build, tmp_path):
    result = CliRunner().invoke(main, ["export-kernel-insight", str(build), "--list-funcs"])
    assert (result.exit_code, result.stdout) == (0, f"kernel\t{build}/ptoas/kernel.pto\n")
    command = [sys.executable, TOOL, "--build-dir", build, "--output-root", tmp_path / "out", "--name", "all"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    root = Path(done.stdout.splitlines()[0].removeprefix("RUN_ROOT "))
    assert root.parent == tmp_path / "out" and root.name.startswith("all_")
    assert done.stdout.splitlines()[1:] == ["EXPORTED 1/1"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["BUILD", "--func", "kernal"], 1, "error: the build has no kernel 'kernal'"),
        (["BUILD/nothing"], 1, "is no complete build"),
        (["BUILD", "--build-dir", "BUILD"], 2, "give the build directory, once"),
    ],
)
def test_what_cannot_be_exported(build, arguments, code, said):
    given = [argument.replace("BUILD", str(build)) for argument in arguments]
    result = CliRunner().invoke(main, ["export-kernel-insight", *given])
    assert result.exit_code == code and said in result.stderr
