"""Build directories: where they go, what is in them."""

import hashlib
import json
import re
import threading

import pytest
from default_stages import LAST, PASSES, dump_files
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.compile import compile_options, compile_program, make_build_directory
from pypto_tmpl.runtime.manifest import read_manifest
from pypto_tmpl.streams import PtoError
from pypto_tmpl.upstream.compile_profiling import CompileProfiler

NO_CPP = "the entries of kernels have an #error where the C++ belongs that ptoas makes of the .pto texts"
NO_PTOAS = (
    "ptoas binary not found on PATH: 1 .pto text is written (ptoas/), and no C++ of them; written all "
    "the same: kernel_config.py, orchestration/main.cpp, 1 entry of kernels, with an #error where that C++ "
    "belongs"
)


@pytest.fixture(autouse=True)
def _no_ptoas(monkeypatch):
    monkeypatch.delenv("PTOAS_ROOT", raising=False)
    monkeypatch.setattr("shutil.which", lambda name, path=None: None)


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def build(program, folder, streams=(), **compile_cfg):
    folder.mkdir(exist_ok=True)
    return compile_program(program, folder, compile_options(compile_cfg), streams=streams)


def test_the_layout(tmp_path):
    build(kernels.scale(), tmp_path)
    assert files(tmp_path) == [
        "compiled_meta.json",
        "debug/run.py",
        "kernel_config.py",
        "kernels/aiv/kernel.cpp",
        "manifest.json",
        "orchestration/main.cpp",
        *dump_files(),
        "ptoas/kernel.pto",
        "report/memory_after_AllocateMemoryAddr.txt",
        "report/perf_hints.log",
        "torch/main.py",
        "torch/main.record.json",
    ]
    folders = (p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_dir())
    assert sorted(folders) == [
        "data", "debug", "kernels", "kernels/aic", "kernels/aiv", "orchestration", "passes_dump", "ptoas",
        "report", "torch",
    ]  # fmt: skip


def test_without_ptoas_there_is_no_folder_for_it(tmp_path):
    with_ptoas = build(kernels.scale(), tmp_path / "with").manifest
    manifest = build(kernels.scale(), tmp_path / "without", skip_ptoas=True).manifest
    assert not (tmp_path / "without/ptoas").exists()
    assert manifest.streams == {}
    assert with_ptoas.streams == {"ptoas": NO_PTOAS, "kernels": NO_CPP}
    assert not (tmp_path / "without/kernel_config.py").exists()
    host = (tmp_path / "without/orchestration/main.cpp").read_text()
    assert host == (tmp_path / "with/orchestration/main.cpp").read_text()
    text = (tmp_path / "without/kernels/aiv/kernel.pto").read_text()
    assert text == (tmp_path / "with/ptoas/kernel.pto").read_text()
    assert "func.func @kernel" in text


def test_device_code_is_made_of_the_last_stage_only(tmp_path):
    manifest = build(kernels.scale(), tmp_path, stage="Simplify").manifest
    why = "empty: only what all passes have made becomes device code"
    assert manifest.streams == dict.fromkeys(["ptoas", "kernels", "orchestration"], why)
    assert list((tmp_path / "ptoas").iterdir()) == []


def test_a_kernel_that_has_no_text_is_told_of_and_runs(tmp_path, monkeypatch):
    def refused(unit, backend, with_places):
        raise PtoError((Unsupported("tile.muls", "kernel", "u", ir.Span.unknown()),))

    monkeypatch.setattr("pypto_tmpl.compile.streams.pto_text", refused)
    built = build(kernels.scale(), tmp_path)
    told = "1 function(s) failed to compile"
    assert built.manifest.streams["ptoas"] == f"{told}, see report/codegen_errors.txt"
    lines = (tmp_path / "report/codegen_errors.txt").read_text().splitlines()
    assert lines[:4] == [f"{told}:", "", "  [kernel]", "error[pto]: 1 thing cannot become .pto text"]
    assert "report/codegen_errors.txt" in built.manifest.files and (tmp_path / "torch/main.py").is_file()


def test_the_manifest(tmp_path):
    built = build(kernels.scale(), tmp_path, platform="a5sim")
    data = json.loads((tmp_path / "manifest.json").read_text())
    assert {key: data[key] for key in ("schema", "program", "platform", "backend")} == {
        "schema": 2,
        "program": "Scale",
        "platform": "a5sim",
        "backend": "Ascend950",
    }
    assert data["entry"] == {
        "function": "main",
        "params": [
            {"name": "x", "direction": "In", "dtype": "FP32", "shape": [4, 8]},
            {"name": "n", "direction": "In", "dtype": "FP32", "shape": None},
            {"name": "y", "direction": "Out", "dtype": "FP32", "shape": [4, 8]},
        ],
        "results": 1,
    }
    assert data["script"] == {
        "path": "torch/main.py",
        "entry": "main",
        "large": [],
        "stage": LAST,
        "source": f"passes_dump/{LAST}.msgpack",
    }
    assert data["streams"] == {"ptoas": NO_PTOAS, "kernels": NO_CPP}
    script = (tmp_path / "torch/main.py").read_bytes()
    assert data["files"]["torch/main.py"] == {
        "bytes": len(script),
        "sha256": hashlib.sha256(script).hexdigest(),
    }
    assert sorted(data["files"]) == [name for name in files(tmp_path) if name != "manifest.json"]
    assert read_manifest(tmp_path) == built.manifest


def test_what_callers_have_to_know(tmp_path):
    """PyPTO's form: no line end, extents of dynamic dimensions are -1, scalars have no shape."""
    build(kernels.scale(), tmp_path)
    text = (tmp_path / "compiled_meta.json").read_text()
    assert text.startswith('{\n  "schema": 1,\n  "params": [\n') and text.endswith("}")
    assert json.loads(text) == {
        "schema": 1,
        "params": [
            {"name": "x", "direction": "In", "shape": [4, 8], "dtype": "fp32"},
            {"name": "n", "direction": "In", "shape": None, "dtype": "fp32"},
            {"name": "y", "direction": "Out", "shape": [4, 8], "dtype": "fp32"},
        ],
        "num_return_types": 1,
        "platform": "a2a3sim",
        "backend_type": "Ascend910B",
    }
    build(kernels.dynamic_sum(), tmp_path, stage="frontend")
    params = json.loads((tmp_path / "compiled_meta.json").read_text())["params"]
    assert [param["shape"] for param in params] == [[-1], [-1], [-1]]


def test_dynamic_dimensions_keep_their_names_in_the_manifest(tmp_path):
    params = build(kernels.dynamic_sum(), tmp_path).manifest.entry.parameters
    assert [param.shape for param in params] == [("N",), ("M",), ("N",)]
    assert read_manifest(tmp_path).entry.parameters == params


def test_a_0_dim_parameter_is_no_scalar(tmp_path):
    """An empty shape survives the JSON; only None is a scalar."""
    manifest = build(kernels.scale(), tmp_path).manifest
    text = (tmp_path / "manifest.json").read_text()
    data = json.loads(text)
    data["entry"]["params"][0]["shape"] = []
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    read = read_manifest(tmp_path)
    assert read.entry.parameters[0].shape == ()
    read.write(tmp_path)
    assert read_manifest(tmp_path).entry.parameters[0].shape == ()
    assert manifest.entry.parameters[1].shape is None


def test_the_default_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    found = make_build_directory("Scale")
    assert found.parent == tmp_path / "build_output"
    assert re.fullmatch(r"Scale_\d{8}_\d{6}", found.name)
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "elsewhere"))
    assert make_build_directory("Scale").parent == tmp_path / "elsewhere"
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", "")
    assert make_build_directory("Scale").parent == tmp_path / "build_output"


def test_builds_of_one_second_do_not_share_a_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path))
    found = [make_build_directory("a/b c") for _ in range(4)]
    assert len(set(found)) == 4
    assert all(path.parent == tmp_path and path.name.startswith("a_b_c_") for path in found)


def test_building_again_into_a_directory_leaves_nothing_of_the_earlier_build(tmp_path):
    build(kernels.scale(), tmp_path, profiling=True)
    (tmp_path / "notes.txt").write_text("mine")
    assert "report/pipeline_profile.json" in files(tmp_path)
    build(kernels.copy(), tmp_path, dump_passes=False)
    assert files(tmp_path) == [
        "compiled_meta.json", "debug/run.py", "manifest.json", "notes.txt", "torch/main.py",
        "torch/main.record.json",
    ]  # fmt: skip


def test_a_build_that_fails_does_not_leave_the_earlier_manifest(tmp_path, monkeypatch):
    def failing(program, entry):
        raise ValueError("no script of this")

    build(kernels.scale(), tmp_path)
    monkeypatch.setattr("pypto_tmpl.compile.build.torch_script", failing)
    with pytest.raises(ValueError, match="no script of this"):
        build(kernels.scale(), tmp_path)
    assert "manifest.json" not in files(tmp_path)


def test_what_is_refused_from_the_start_leaves_the_earlier_build_whole(tmp_path):
    build(kernels.scale(), tmp_path)
    before = files(tmp_path)
    with pytest.raises(ValueError, match="the program has no function to run"):
        build(ir.Program([], "Empty", ir.Span.unknown()), tmp_path)
    with pytest.raises(ValueError, match="there is no stage 'nope'"):
        build(kernels.scale(), tmp_path, stage="nope")
    assert files(tmp_path) == before


def test_other_streams_get_the_program_and_the_knobs(tmp_path):
    class Drawings:
        name = "drawings"

        def emit(self, program, knobs):
            return {f"drawings/{program.name}.txt": f"{sorted(knobs)}\n"}

    built = build(kernels.scale(), tmp_path, [Drawings()], skip_ptoas=True, profiling=True)
    assert (tmp_path / "drawings/Scale.txt").read_text() == "['profiling', 'skip_ptoas']\n"
    assert "drawings/Scale.txt" in built.manifest.files
    profile = json.loads((tmp_path / "report/pipeline_profile.json").read_text())
    assert [stage["name"] for stage in profile["stages"]] == ["passes", "codegen"]
    codegen = {stage["name"]: stage["children"] for stage in profile["stages"][1]["children"]}
    assert list(codegen) == ["torch", "kernel_codegen:kernel", "orchestration_codegen", "drawings"]
    assert [child["name"] for child in codegen["kernel_codegen:kernel"]] == ["ir_to_mlir"]


def test_the_profile(tmp_path):
    build(kernels.scale(), tmp_path, profiling=True)
    profile = json.loads((tmp_path / "report/pipeline_profile.json").read_text())
    stages = profile["stages"]
    assert profile["total_seconds"] == pytest.approx(sum(s["seconds"] for s in stages), abs=2e-6)
    assert stages[1]["seconds"] >= stages[1]["children"][0]["seconds"] > 0
    assert [stage["name"] for stage in stages[0]["children"]] == PASSES
    assert stages[0]["seconds"] >= sum(stage["seconds"] for stage in stages[0]["children"]) > 0
    lines = (tmp_path / "report/pipeline_profile.txt").read_text().splitlines()
    assert lines[0] == "Compile pipeline time"
    assert lines[1] == "=" * 22
    assert re.fullmatch(r"Total: [\d.]+(us|ms|s)", lines[2])
    assert lines[3] == ""
    assert re.fullmatch(r"passes {22} +[\d.]+(us|ms|s)  \( *\d+\.\d%\)", lines[4])
    assert re.fullmatch(r"  InlineFunctions {13} +[\d.]+(us|ms|s)  \( *\d+\.\d%\)", lines[5])
    assert re.fullmatch(r"  torch {23} +[\d.]+(us|ms|s)  \( *\d+\.\d%\)", lines[6 + len(PASSES)])


def test_a_profiler_around_gets_the_stages_and_no_report_is_written(tmp_path):
    with CompileProfiler() as profiler:
        with profiler.stage("mine"):
            ir.compile(kernels.scale(), tmp_path / "inner", profiling=True, skip_ptoas=True)
        with CompileProfiler() as other:
            ir.compile(kernels.scale(), tmp_path / "other", skip_ptoas=True)
    [mine] = profiler.to_dict()["stages"]
    assert mine["name"] == "mine"
    assert [stage["name"] for stage in mine["children"]] == ["passes", "codegen"]
    assert [found["name"] for found in mine["children"][0]["children"]] == list(PASSES)
    assert [stage["name"] for stage in other.to_dict()["stages"]] == ["passes", "codegen"]
    assert not list(tmp_path.glob("*/report/pipeline_profile.*"))
    ir.compile(kernels.scale(), tmp_path / "alone", profiling=True, skip_ptoas=True)
    assert len(list(tmp_path.glob("*/report/pipeline_profile.*"))) == 2


@pytest.mark.parametrize(("value", "is_on"), [("1", True), ("true", True), ("yes", True), ("0", False)])
def test_the_environment_has_a_whole_process_timed(tmp_path, monkeypatch, capsys, value, is_on):
    monkeypatch.setenv("PYPTO_COMPILE_PROFILING", value)
    monkeypatch.setattr(CompileProfiler, "_of_process", None)
    ends = []
    monkeypatch.setattr("atexit.register", ends.append)
    for name in ("a", "b"):
        ir.compile(kernels.scale(), tmp_path / name, profiling=True, skip_ptoas=True)
    profiler = CompileProfiler.current()
    assert (profiler is not None) == is_on
    assert len(list(tmp_path.glob("*/report/pipeline_profile.*"))) == (0 if is_on else 4)
    assert len(ends) == is_on
    if profiler is not None:
        assert [stage["name"] for stage in profiler.to_dict()["stages"]] == ["passes", "codegen"] * 2
        with CompileProfiler() as own:
            assert CompileProfiler.current() is own
        ends[0]()
        assert capsys.readouterr().err == profiler.summary()


def test_stages_of_several_threads_stand_beside_each_other():
    profiler, inside = CompileProfiler(), threading.Barrier(2)

    def timed(name):
        with profiler.stage(name):
            inside.wait(10)
            with profiler.stage(f"{name} within"):
                inside.wait(10)

    threads = [threading.Thread(target=timed, args=[name]) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stages = {stage["name"]: [c["name"] for c in stage["children"]] for stage in profiler.to_dict()["stages"]}
    assert stages == {"a": ["a within"], "b": ["b within"]}
