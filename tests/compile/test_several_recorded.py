"""Builds of several orchestrations, file by file, against those recorded from upstream.

``.pto`` texts and ``compiled_meta.json`` are kept as they were recorded, code of the host without comments,
entries of kernels as the lines that take arguments and hand them on. Upstream refuses ``region_results``,
whose ``main`` calls ``prepare``, after some of its files; the entries of kernels, which it leaves outside of
their folder, are kept where it has their ``.pto`` texts.
"""

import re
from pathlib import Path

import pytest
import torch

from pypto_tmpl import backend, ir
from pypto_tmpl.compile.build_page import attached_to, build_manifest
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.compile.reuse import reuse_build
from pypto_tmpl.golden import TensorSpec, run
from pypto_tmpl.runtime import execute_compiled
from pypto_tmpl.runtime.manifest import read_manifest

RECORDED = Path(__file__).parent / "several"
PROGRAMS = ("level_nest", "region_results", "scoped_control_flow")
FORWARDS = re.compile(r"args\[|start_offset|_conv|sub_block_id\(args\)|block_idx|^\s+\w+\(.*\);$")
OWN = ("manifest.json", "torch/", "passes_dump/", "report/memory_after_", "report/perf_hints.log")
# What follows the file at which upstream gave up, and the table that says why.
NOT_RECORDED = {
    "region_results": {
        "next_levels/main/report/codegen_errors.txt",
        "next_levels/prepare/kernel_config.py",
        "next_levels/prepare/kernels/aiv/prepare_blockwise.cpp",
        "next_levels/prepare/orchestration/prepare.cpp",
        "next_levels/prepare/ptoas/prepare_blockwise.pto",
    }
}
# A ``while`` loop, whose body upstream writes once.
OTHER_TEXT = {("scoped_control_flow", "next_levels/main/orchestration/main.cpp")}


@pytest.fixture(autouse=True)
def own_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PTOAS_ROOT", raising=False)
    monkeypatch.setenv("PATH", "")
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def frontend(program):
    node = ir.deserialize_from_file(str(RECORDED / program / "frontend.msgpack"))
    assert isinstance(node, ir.Program)
    return node


def compiled(program, folder, **knobs):
    return ir.compile(frontend(program), folder, **({"skip_ptoas": True} | knobs))


def said(name, text):
    """What of a text is recorded."""
    if name.endswith((".pto", ".json")):
        return [re.sub(r'loc\("[^"]*?(\w+/\w+\.py)"', r'loc("\1"', line) for line in text.splitlines()]
    text = re.sub(r"^# .*$", "", text, flags=re.M) if name.endswith(".py") else text
    lines = [re.sub(r"\s*//.*$", "", line).rstrip() for line in text.splitlines()]
    if "/kernels/" in name:
        return [line.strip() for line in lines if FORWARDS.search(line)]
    return [line for line in lines if line.strip() and not line.startswith("#  ")]


@pytest.mark.filterwarnings("ignore:ptoas")
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_files_are_those_recorded(program, tmp_path):
    build = compiled(program, tmp_path / "build", skip_ptoas=False).output_dir
    files = {path.relative_to(build).as_posix(): path for path in build.rglob("*") if path.is_file()}
    own = {name for name in files if any(f"/{part}" in f"/{name}" for part in OWN)}
    kept = RECORDED / program / "recorded"
    recorded = {
        path.relative_to(kept).as_posix().removesuffix(".txt"): path
        for path in kept.rglob("*")
        if path.is_file()
    }
    assert files.keys() - own == recorded.keys() | NOT_RECORDED.get(program, set())
    for name, path in recorded.items():
        is_alike = said(name, files[name].read_text()) == path.read_text().splitlines()
        assert is_alike is ((program, name) not in OTHER_TEXT), name
    assert files.keys() & {"report/perf_hints.log"} and read_manifest(build).files.keys() == files.keys() - {
        "manifest.json"
    }


# region_results, whose main calls prepare: d = 2 x, low = min(d, 0), high = max(d, 0), run = run / 2 + high,
# rows_out are eight rows of low from the row in picks[1], and twice these.


def inputs():
    return {
        "x": torch.randn(32, 64),
        "picks": torch.tensor([1, 5, 2, 0], dtype=torch.int32),
        "low": torch.zeros(32, 64),
        "high": torch.zeros(32, 64),
        "run": torch.randn(32, 64),
        "rows_out": torch.zeros(16, 64),
    }


def expected(t):
    d = t["x"] * 2
    low, high = d.clamp(max=0), d.clamp(min=0)
    rows = low[5:13]
    return {"low": low, "high": high, "run": t["run"] / 2 + high, "rows_out": torch.cat([rows, 2 * rows])}


def is_right(call):
    tensors = inputs()
    wanted = expected(tensors)
    call(*tensors.values())
    for name, value in wanted.items():
        torch.testing.assert_close(tensors[name], value)


def test_each_is_called_by_its_name_and_the_whole_is_not(tmp_path):
    made = compiled("region_results", tmp_path / "build")
    for found in (made, CompiledProgram.from_dir(made.output_dir)):
        assert found.orchestration_names == ["main", "prepare"]
        is_right(found["main"])
        x, doubled = torch.randn(48, 64), torch.zeros(48, 64)
        found.prepare(x, doubled)
        assert torch.equal(doubled, 2 * x)
        with pytest.raises(TypeError, match=r"select one explicitly via compiled\['<name>'\]"):
            found(*inputs().values())
    assert made["main"].param_names == list(inputs())
    assert not list(
        made.output_dir.rglob("compiled_meta.json")
    )  # the program as written has no orchestration


def test_the_directory_runs_from_the_orchestration_that_calls_the_others(tmp_path):
    build = compiled("region_results", tmp_path / "build").output_dir
    is_right(lambda *args: execute_compiled(build, args))
    is_right(lambda *args: execute_compiled(build, args, stage="OutlineIncoreScopes"))
    is_right(lambda *args: execute_compiled(build, args, storage="planned"))
    script = build / "next_levels/main/torch/main.py"
    text = script.read_text()
    script.unlink()
    (finding,) = reuse_build(build).findings
    assert finding.path == "next_levels/main/torch/main.py" and finding.done.startswith(
        "generated again from"
    )
    assert script.read_text() == text


def test_the_whole_and_each_of_its_parts_are_validated(tmp_path):
    made = compiled("region_results", tmp_path / "build")
    tensors = inputs()
    for one in (made, made["main"]):
        assert one.validate_ir(tensors, expected(tensors)).passed
    x = torch.randn(32, 64)
    assert made["prepare"].validate_ir({"x": x}, {"doubled": 2 * x}).passed


def test_the_harness_runs_it_and_takes_up_its_build(tmp_path):
    def fill(tensors):
        for name, value in expected(tensors).items():
            tensors[name][:] = value

    dtypes = {"picks": torch.int32}
    specs = [
        TensorSpec(
            name, list(value.shape), dtypes.get(name, torch.float32),
            init_value=None if name in ("low", "high", "rows_out") else value,
            is_output=name not in ("x", "picks"),
        )
        for name, value in inputs().items()
    ]  # fmt: skip
    first = run(
        frontend("region_results"), specs, fill, compile_cfg={"output_dir": tmp_path / "b"}, save_data=True
    )
    assert first.passed, first.error
    again = run(
        frontend("region_results"), specs, golden_data=tmp_path / "b" / "data", runtime_dir=tmp_path / "b"
    )
    assert again.passed, again.error
    other = run(
        frontend("region_results"),
        specs,
        golden_data=tmp_path / "b" / "data",
        runtime_dir=tmp_path / "b",
        runtime_cfg={"stage": "frontend"},
    )
    assert other.passed, other.error


def test_the_page_shows_the_parts_and_what_runs(tmp_path):
    build = compiled("region_results", tmp_path / "build").output_dir
    attached = attached_to(build, build_manifest(build))
    facts = dict(attached.facts)
    assert facts["orchestrations"] == "next_levels/main\nnext_levels/prepare"
    assert facts["entry"].startswith("main(x: In, picks: In, low: Out")
    assert facts["executed"].startswith("next_levels/main/torch/main.py, made from ")
    assert facts["orchestration"].endswith("see next_levels/main/report/codegen_errors.txt")
    files = dict(attached.files)
    assert "[main]" in files["next_levels/main/report/codegen_errors.txt"]
    assert "next_levels/prepare/orchestration/prepare.cpp" in files
