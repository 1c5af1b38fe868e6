"""run: the stages and their lines, and what every knob does."""

import json
import re
from pathlib import Path

import pytest
import torch
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.golden import RunResult, ScalarSpec, TensorSpec, run

STAGES = ["compile", "generate inputs", "compute golden", "runtime", "validate"]
Y_PASS = [
    "[RUN]   'y' PASS  shape=(4, 8) dtype=torch.float32",
    "          max abs diff=0.000e+00, max rel diff=0.000e+00; tolerance rtol=1e-05 atol=1e-05",
]


def lines_of(*stages, last="PASS (T)", within=None):
    """The lines of stages without anything between, those of ``within`` apart."""
    found = []
    for stage in stages:
        found += [f"[RUN] {stage} ...", *(within or {}).get(stage, []), f"[RUN] {stage} done (T)"]
    return [*found, f"[RUN] {last}"]


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.pt"))


def test_the_lines_of_a_run(run_scale, console, tmp_path):
    result = run_scale()
    assert console() == lines_of(*STAGES, within={"validate": Y_PASS})
    assert result.passed
    assert (result.error, result.phase, result.error_type, result.traceback) == (None,) * 4
    assert result.work_dir.parent == tmp_path / "build_output"
    assert re.fullmatch(r"Scale_\d{8}_\d{6}", result.work_dir.name)
    assert result.execution_time > 0
    assert re.fullmatch(r"PASS \(\d+\.\d\ds\)", str(result))


def test_the_build_directory(run_scale):
    work_dir = run_scale().work_dir
    assert sorted(path.name for path in work_dir.iterdir()) == [
        "compiled_meta.json", "data", "debug", "kernel_config.py", "kernels", "manifest.json",
        "orchestration", "passes_dump", "ptoas", "report", "torch",
    ]  # fmt: skip
    assert files(work_dir) == ["data/in/n.pt", "data/in/x.pt", "data/out/y.pt"]
    script = (work_dir / "torch/main.py").read_text()
    assert "def main(x__ssa_v0, n__ssa_v0, y__ssa_v0):" in script
    assert ir.structural_equal(pl.loads(work_dir / "passes_dump/00_frontend.py"), kernels.scale())


def test_without_golden_the_line_says_that_nothing_was_validated(run_scale, console):
    result = run_scale(golden_fn=None)
    assert console() == lines_of(
        "compile",
        "generate inputs",
        "runtime",
        last="PASS (T, validation skipped: no golden_fn or golden_data)",
    )
    assert result.passed
    assert files(result.work_dir) == ["data/in/n.pt", "data/in/x.pt"]


def test_compile_only(run_scale, console):
    def never(*args):
        raise AssertionError("called")

    specs = [TensorSpec("x", [4, 8], torch.float32, never)]
    result = run_scale(compile_only=True, golden_fn=never, specs=specs, runtime_cfg={"platform": "a2a3"})
    assert console() == lines_of("compile")
    assert result.passed
    assert files(result.work_dir) == []
    assert (result.work_dir / "torch/main.py").is_file()


def test_compile_only_excludes_runtime_dir(run_scale, console):
    result = run_scale(compile_only=True, runtime_dir="anywhere")
    assert console() == []
    assert result == RunResult(
        False,
        "runtime_dir is incompatible with compile_only",
        phase="arguments",
        error_type="HarnessError",
        traceback=result.traceback,
    )


@pytest.mark.parametrize("given", ["text", Path("text")], ids=["str", "Path"])
def test_runtime_dir(run_scale, console, given):
    build = run_scale(compile_cfg={"output_dir": given}, save_data=False).work_dir
    console()
    result = run_scale(runtime_dir=given)
    assert console() == [
        "[RUN] runtime_only: skipping compile, using text",
        "[RUN]   nothing is missing or was edited: 112 files",
        *lines_of(*STAGES[1:], within={"validate": Y_PASS}),
    ]
    assert result.passed
    assert result.work_dir == build
    assert files(build) == ["data/in/n.pt", "data/in/x.pt", "data/out/y.pt"]


def test_a_runtime_dir_that_does_not_exist(run_scale):
    result = run_scale(runtime_dir="nowhere")
    assert (result.error, result.work_dir) == ("runtime_dir does not exist: nowhere", None)
    assert result.execution_time is not None


def test_golden_data_goes_before_golden_fn_and_nothing_is_written(run_scale, console):
    data = run_scale(save_data=True).work_dir / "data"
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    console()

    def never(*args):
        raise AssertionError("called")

    specs = [
        TensorSpec("x", [4, 8], torch.float32, never),
        ScalarSpec("n", torch.float32, 3),
        TensorSpec("y", [4, 8], torch.float32, is_output=True),
    ]
    result = run_scale(golden_data=data, golden_fn=never, specs=specs, save_data=True)
    assert result.passed, result.error
    assert console() == lines_of(
        *STAGES,
        within={
            "generate inputs": [f"[RUN]   cache hit: {data}/in"],
            "compute golden": [
                f"[RUN]   cache hit: {data}/out",
                "[RUN]   the goldens were computed by another golden_fn than the one given",
            ],
            "validate": Y_PASS,
        },
    )
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before
    assert files(result.work_dir) == []


def test_runtime_dir_and_golden_data_combine(run_scale, console):
    work_dir = run_scale().work_dir
    console()
    result = run_scale(runtime_dir=work_dir, golden_data=work_dir / "data", golden_fn=None)
    assert result.passed, result.error
    assert console()[:2] == [
        f"[RUN] runtime_only: skipping compile, using {work_dir}",
        "[RUN]   nothing is missing or was edited: 112 files",
    ]


@pytest.mark.parametrize(
    ("save_data", "golden", "expected"),
    [
        (None, True, ["in/n.pt", "in/x.pt", "out/y.pt"]),
        (True, True, ["in/n.pt", "in/x.pt", "out/y.pt"]),
        (True, False, ["in/n.pt", "in/x.pt"]),
        (False, True, []),
        (False, False, []),
    ],
)
def test_save_data(run_scale, save_data, golden, expected):
    knobs = {} if golden else {"golden_fn": None}
    result = run_scale(save_data=save_data, **knobs)
    assert result.passed
    assert files(result.work_dir / "data") == expected


def big_specs(rows, dtype=torch.float32):
    """An input and a pure output, ``rows`` MiB each."""
    return [
        TensorSpec("x", [rows, 1 << 18], dtype, never_called),
        TensorSpec("y", [rows, 1 << 18], dtype, is_output=True),
    ]


def never_called():
    raise AssertionError("no tensor of this size is made here")


@pytest.mark.parametrize(
    ("rows", "golden", "save_data", "saved"),
    [
        (512, True, None, True),  # 512 MiB in, 512 MiB out: exactly 1 GiB
        (513, True, None, False),
        (513, False, None, True),  # without golden the output is not saved
        (1024, False, None, True),
        (1025, False, None, False),
        (4096, True, True, True),
        (1, True, False, False),
    ],
)
def test_what_is_saved_by_size(rows, golden, save_data, saved, knobs_for):
    knobs = knobs_for(big_specs(rows), golden_fn=never_called if golden else None, save_data=save_data)
    assert knobs.data_decision()[0] is saved


def test_the_line_of_data_that_is_too_large(knobs_for):
    assert knobs_for(big_specs(1536), golden_fn=never_called).data_decision() == (
        False,
        "data not saved: 3.00 GiB is above 1 GiB; save_data=True saves it",
    )


@pytest.fixture
def knobs_for():
    from pypto_tmpl.golden.knobs import Knobs

    defaults = {
        "golden_data": None, "compile_cfg": None, "runtime_cfg": None, "rtol": 0.0, "atol": 0.0,
        "compare_fn": None, "compile_only": False, "runtime_dir": None, "save_data": None,
        "golden_only": False, "equal_nan": False, "golden_fn": None,
    }  # fmt: skip
    return lambda specs, **knobs: Knobs(specs=specs, **defaults | knobs)


def test_data_that_is_too_large_is_validated_all_the_same(run_scale, console, monkeypatch):
    monkeypatch.setattr("pypto_tmpl.golden.knobs.SAVE_LIMIT", 255)
    result = run_scale()
    assert "[RUN]   data not saved: 0.00 GiB is above 1 GiB; save_data=True saves it" in console()
    assert result.passed
    assert files(result.work_dir) == []


def test_golden_only_writes_the_goldens_and_runs_nothing(run_scale, console, tmp_path):
    result = run_scale(golden_only=True, runtime_cfg={"platform": "a2a3"})
    data = result.work_dir / "data"
    assert console() == lines_of("generate inputs", "compute golden", last=f"PASS (T, golden only: {data})")
    assert result.passed
    assert files(data) == ["in/n.pt", "in/x.pt", "out/y.pt"]
    assert torch.equal(torch.load(data / "out/y.pt"), 3 * torch.arange(32.0).reshape(4, 8))
    assert json.loads((data / "manifest.json").read_text())["result"] == "goldens only"
    assert sorted(path.name for path in result.work_dir.iterdir()) == ["data"]
    assert run_scale(golden_data=data, golden_fn=None).passed


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        ({"compile_only": True}, "compile_only is incompatible with golden_only"),
        ({"golden_data": "somewhere"}, "golden_data is incompatible with golden_only"),
        ({"save_data": False}, "save_data=False is incompatible with golden_only"),
        ({"golden_fn": None}, "golden_only needs a golden_fn"),
        ({"runtime_dir": "nowhere"}, "runtime_dir does not exist: nowhere"),
    ],
)
def test_what_golden_only_excludes(run_scale, knobs, text):
    result = run_scale(golden_only=True, **knobs)
    assert (result.passed, result.error) == (False, text)


def test_golden_only_into_an_earlier_build(run_scale):
    build = run_scale(save_data=False).work_dir
    assert run_scale(golden_only=True, runtime_dir=build).work_dir == build
    assert run_scale(runtime_dir=build, golden_data=build / "data", golden_fn=None).passed


def test_tolerances_and_comparators(run_scale, console):
    def off(values):
        values["y"][:] = values["x"] * values["n"] + 0.01

    assert not run_scale(golden_fn=off, rtol=0.0, atol=1e-3).passed
    assert run_scale(golden_fn=off, rtol=0.0, atol=0.02).passed
    console()
    seen = {}

    def compare(actual, expected, *, actual_outputs, expected_outputs, inputs, rtol, atol):
        seen.update(inputs)
        assert actual_outputs["y"] is not expected_outputs["y"]
        return bool((actual < expected).all()), f"    rtol={rtol} atol={atol}"

    assert run_scale(golden_fn=off, rtol=0.5, atol=0.25, compare_fn={"y": compare, "z": compare}).passed
    assert "[RUN]   'y' PASS  shape=(4, 8) dtype=torch.float32 (compare)" in console()
    assert (seen["n"].dim(), seen["n"].dtype, seen["n"].item()) == (0, torch.float32, 3.0)
    assert seen["x"].tolist() == torch.arange(32.0).reshape(4, 8).tolist()
    assert sorted(seen) == ["n", "x"]


def test_equal_nan(run_scale):
    def nan(values):
        values["y"][:] = values["x"] * values["n"]

    specs = [
        TensorSpec("x", [4, 8], torch.float32, lambda: torch.full((4, 8), torch.nan)),
        ScalarSpec("n", torch.float32, 3),
        TensorSpec("y", [4, 8], torch.float32, is_output=True),
    ]
    assert not run_scale(specs=specs, golden_fn=nan).passed
    assert run_scale(specs=specs, golden_fn=nan, equal_nan=True).passed


@pytest.mark.parametrize("suffix", [".msgpack", ".py"])
def test_a_dump_is_a_program(run_scale, scale_specs, tmp_path, suffix):
    work_dir = run_scale(save_data=False).work_dir
    dump = work_dir / f"passes_dump/00_frontend{suffix}"
    assert run_scale(program=str(dump)).passed
    assert run_scale(program=dump).passed


def test_what_stands_for_a_program(run_scale):
    class Decorated:
        def as_ir(self):
            return kernels.scale()

    class DecoratedClass:
        @staticmethod
        def as_ir():
            return kernels.scale()

    assert run_scale(program=Decorated()).passed
    assert run_scale(program=DecoratedClass).passed


def test_a_function_alone_is_a_program():
    program = kernels.copy()
    specs = [TensorSpec("x", [4, 8], torch.float32), TensorSpec("y", [4, 8], torch.float32, is_output=True)]
    result = run(program["main"], specs, lambda values: values["y"].copy_(values["x"]))
    assert result.passed, result.error


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            5,
            "program is a int, not a program\n"
            "   = programs: ir.Program, an object with as_ir(), the path of a .msgpack or .py dump",
        ),
        ("kernel.cpp", "kernel.cpp is no dump that can be read\n   = dumps: *.msgpack, *.py"),
    ],
)
def test_what_is_no_program(run_scale, program, text):
    result = run_scale(program=program)
    assert (result.phase, result.error) == ("compile", text)


def test_the_benchmark_stage_has_nothing_to_measure(run_scale, console, monkeypatch):
    monkeypatch.setenv("PYPTO_BENCH", "1")
    text = "effective_us unavailable: no device-domain spans (sim platform or non-profiling build)"
    work_dir = run_scale().work_dir
    stages = [*STAGES[:4], "benchmark", "validate"]
    assert console() == lines_of(*stages, within={"benchmark": [f"[RUN]   {text}"], "validate": Y_PASS})
    run_scale(runtime_dir=work_dir)
    assert "[RUN]   benchmark skipped: no live CompiledProgram (runtime_dir replay)" in console()
    for off in ("", "0", "false", "False"):
        monkeypatch.setenv("PYPTO_BENCH", off)
        run_scale()
        assert not any("benchmark" in line for line in console())


def test_platform_and_compile_knobs(run_scale):
    result = run_scale(
        runtime_cfg={"platform": "a5sim", "device_id": 3, "enable_l2_swimlane": False, "log_level": None},
        compile_cfg={"output_dir": "here", "dump_passes": False, "profiling": True, "skip_ptoas": True},
    )
    assert result.passed, result.error
    assert result.work_dir == Path("here").resolve()
    manifest = json.loads((result.work_dir / "manifest.json").read_text())
    assert (manifest["platform"], manifest["backend"]) == ("a5sim", "Ascend950")
    assert not (result.work_dir / "passes_dump").exists()
    assert (result.work_dir / "report/pipeline_profile.txt").is_file()


def test_positional_arguments_are_in_upstreams_order(scale_specs):
    """program, specs, golden_fn, golden_data, compile_cfg, runtime_cfg, rtol, atol, compare_fn, ..."""
    result = run(
        kernels.scale(),
        scale_specs,
        lambda values: values["y"].fill_(1000.0),
        None,
        {"output_dir": "there"},
        {"platform": "a2a3sim"},
        0.0,
        1000.0,
        {},
        False,
        None,
        False,
    )
    assert result.passed, result.error
    assert files(Path("there")) == []


def test_resident_specs_have_no_effect_on_one_card(run_scale, scale_specs):
    for place in (0, "stacked"):
        scale_specs[0].resident = place
        assert run_scale().passed
