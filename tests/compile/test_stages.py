"""Which stage is made and executed, and what the passes of a compilation are told."""

import ctypes
import errno
import json
import os
import re
import shutil
from pathlib import Path

import pytest
import torch
from default_stages import LAST, PASSES, STAGES
from runtime import kernels

from pypto_tmpl import backend, ir
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.files import FileError
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.pass_manager import OptimizationStrategy
from pypto_tmpl.passes import (
    CallbackInstrument,
    DiagnosticPhase,
    MemoryPlanner,
    PassContext,
    VerificationLevel,
)
from pypto_tmpl.passes.memory.memory_reuse import MemoryReuse
from pypto_tmpl.runtime import RunConfig, execute_compiled


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def dumped(compiled):
    return sorted(path.stem for path in (compiled.output_dir / "passes_dump").glob("*.msgpack"))


def stage_of(compiled):
    return json.loads((compiled.output_dir / "manifest.json").read_text())["script"]["stage"]


def scaled(compiled, **config):
    """What a call of ``kernels.scale()`` with ones and 3 gives."""
    y = torch.zeros(4, 8)
    compiled(torch.ones(4, 8), 3.0, y, config=RunConfig(**config) if config else None)
    return y


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (None, 49), ("last", 49), ("frontend", 0), ("00_frontend", 0), ("0", 0), (0, 0), ("ConvertToSSA", 4),
        (4, 4), ("Simplify", 5), ("45", 45), ("11_after_ConvertTensorToTileOps", 11),
    ],
)  # fmt: skip
def test_passes_run_up_to_the_stage(given, number):
    compiled = ir.compile(kernels.scale(), stage=given)
    assert dumped(compiled) == STAGES[: number + 1]
    assert stage_of(compiled) == STAGES[number]
    assert (scaled(compiled) == 3).all()


def test_an_unknown_stage_names_those_there_are():
    with pytest.raises(ValueError) as caught:
        ir.compile(kernels.scale(), stage="ConvertToSSS")
    lines = str(caught.value).splitlines()
    assert lines[0] == "error[stage]: there is no stage 'ConvertToSSS'"
    assert lines[1].startswith("   = stages: frontend, InlineFunctions, UnrollLoops, ")
    assert lines[1].endswith(", last; did you mean 'ConvertToSSA'?")
    with pytest.raises(TypeError, match="stage must be 'frontend', 'last', a pass or a number, got 1.5"):
        ir.compile(kernels.scale(), stage=1.5)


def test_a_build_is_run_at_another_stage_of_its_dumps(tmp_path):
    compiled = ir.compile(kernels.scale(), tmp_path / "build")
    script = tmp_path / "build/torch/00_frontend/main.py"
    assert (scaled(compiled, stage="frontend") == 3).all()
    assert "u = t * n" in script.read_text()
    files = json.loads((tmp_path / "build/manifest.json").read_text())["files"]
    assert {
        "torch/00_frontend/main.py",
        "torch/00_frontend/main.record.json",
        "torch/main.py",
    } <= files.keys()
    assert stage_of(compiled) == LAST  # which is what it goes on to run by default
    # A script that was edited is run as it stands, and only for its own stage.
    script.write_text(script.read_text().replace("t * n", "t * n + 1"))
    assert (scaled(compiled, stage="frontend") == 4).all()
    assert (scaled(compiled, stage="last") == 3).all()
    assert (scaled(compiled) == 3).all()
    again, y = CompiledProgram.from_dir(tmp_path / "build"), torch.zeros(4, 8)
    assert (scaled(again, stage="ConvertToSSA") == 3).all()
    execute_compiled(again, [torch.ones(4, 8), ctypes.c_float(3), y], stage=5)
    assert (y == 3).all() and (tmp_path / "build/torch/05_after_Simplify/main.py").is_file()
    # What was made for other stages belongs to the build, and goes with it.
    ir.compile(kernels.scale(), tmp_path / "build")
    assert not (tmp_path / "build/torch/05_after_Simplify/main.py").exists()


def test_a_build_without_dumps_has_one_stage():
    compiled = ir.compile(kernels.scale(), dump_passes=False)
    assert (scaled(compiled, stage="last") == 3).all()
    assert (scaled(compiled, stage=LAST) == 3).all()
    with pytest.raises(
        ValueError, match="has no dumps, so that it can be run at 49_after_.* only, not at 'front"
    ):
        scaled(compiled, stage="frontend")


@pytest.mark.parametrize(
    ("knobs", "passes"),
    [
        ({}, PASSES),
        ({"memory_planner": MemoryPlanner.DSA_RP}, [p for p in PASSES if p != "MemoryReuse"]),
        (
            {"memory_planner": MemoryPlanner.PTOAS},
            [p for p in PASSES if p not in ("MemoryReuse", "AllocateMemoryAddr")],
        ),
        ({"strategy": OptimizationStrategy.DebugTileOptimization}, [*PASSES[:7], *PASSES[12:]]),
    ],
)
def test_strategies_and_planners_choose_the_passes(knobs, passes):
    compiled = ir.compile(kernels.scale(), **knobs)
    assert dumped(compiled) == ["00_frontend", *(f"{n:02d}_after_{p}" for n, p in enumerate(passes, 1))]
    has_addresses = knobs.get("memory_planner") is not MemoryPlanner.PTOAS
    assert (compiled.output_dir / "ptoas/kernel.pto").is_file() is has_addresses
    assert (scaled(compiled) == 3).all()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("strategy", "Default", "OptimizationStrategy.Default, OptimizationStrategy.DebugTileOptimization"),
        ("memory_planner", 1, "MemoryPlanner.PYPTO, MemoryPlanner.PTOAS, MemoryPlanner.DSA_RP"),
        (
            "verification_level",
            True,
            "VerificationLevel.NONE, VerificationLevel.BASIC, VerificationLevel.ROU",
        ),
    ],
)
def test_what_is_no_member_is_refused_before_anything_is_written(name, value, allowed):
    with pytest.raises(TypeError, match=f"^{name} must be one of {allowed}"):
        ir.compile(kernels.scale(), **{name: value})
    assert os.listdir() == []


def test_an_active_context_decides_and_watches():
    seen = []
    watching = CallbackInstrument(after_pass=lambda pass_, program: seen.append(pass_.get_name()))
    with PassContext([watching], VerificationLevel.NONE, memory_planner=MemoryPlanner.DSA_RP):
        compiled = ir.compile(kernels.scale())
        with pytest.raises(RuntimeError) as caught:
            ir.compile(kernels.scale(), diagnostic_phase=DiagnosticPhase.NONE)
    assert str(caught.value) == (
        "compile() was called with diagnostic_phase while a PassContext is already active. "
        "Set the diagnostic_phase on the existing PassContext instead."
    )
    assert seen == [name for name in PASSES if name != "MemoryReuse"]
    assert "34_after_AllocateMemoryAddr" in dumped(compiled)


def test_the_round_trip_is_one_of_the_levels(monkeypatch):
    printed = []
    original = ir.python_print

    def noted(node, *args, **knobs):
        printed.extend([node] if isinstance(node, ir.Program) else [])
        return original(node, *args, **knobs)

    monkeypatch.setattr(ir, "python_print", noted)
    ir.compile(kernels.scale(), dump_passes=False, verification_level=VerificationLevel.BASIC)
    assert printed == []
    ir.compile(kernels.scale(), dump_passes=False, verification_level=VerificationLevel.ROUNDTRIP)
    assert len(printed) > 2  # stages that a pass has left as they were are not printed anew


def test_passes_know_the_platform_and_the_process_does_not():
    """The copy between cores of a 910B goes through memory, that of a 950 does not."""
    seen = {}

    def note(pass_, program):
        seen[backend.get_backend_type()] = backend.is_backend_configured()

    with PassContext([CallbackInstrument(before_pass=note)]):
        ir.compile(kernels.scale(), platform="a5sim")
        ir.compile(kernels.scale(), platform="a2a3sim")
    assert seen == {backend.BackendType.Ascend950: True, backend.BackendType.Ascend910B: True}
    assert not backend.is_backend_configured()


def test_a_full_disk_leaves_nothing_and_says_so_once(tmp_path, monkeypatch):
    (tmp_path / "build").mkdir()
    original, written = os.replace, []

    def replace(source, target):
        if len(written) == 7:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(target)
        original(source, target)

    with monkeypatch.context() as patch, pytest.raises(FileError) as caught:
        patch.setattr(os, "replace", replace)
        compile_program(kernels.scale(), tmp_path / "build", compile_options({}))
    assert "the file cannot be written: No space left on device" in str(caught.value)
    assert caught.value.__context__ is None or not isinstance(caught.value.__context__, FileError)
    assert [path for path in (tmp_path / "build").rglob("*") if path.is_file()] == []
    compile_program(kernels.scale(), tmp_path / "build", compile_options({}))


def test_a_build_of_another_version_is_replaced(tmp_path):
    compiled = ir.compile(kernels.scale(), tmp_path / "build")
    manifest = compiled.output_dir / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"schema": 2', '"schema": 1'))
    with pytest.raises(ValueError, match="has schema 1, expected 2: compile the program again"):
        CompiledProgram.from_dir(compiled)
    shutil.copytree(compiled, tmp_path / "copy")
    again = ir.compile(kernels.copy(), tmp_path / "copy", stage="frontend")
    assert dumped(again) == ["00_frontend"]


def test_an_error_that_no_pass_foresees_names_the_pass_the_function_and_the_line(tmp_path, monkeypatch):
    def broken(statement, context):
        raise KeyError("lost")

    def run(self, function, context):
        return broken(next(statements(function.body)), context)

    monkeypatch.setattr(MemoryReuse, "run", run)
    with pytest.raises(KeyError) as caught:
        ir.compile(kernels.scale(), tmp_path / "build")
    assert re.fullmatch(
        r"in the pass MemoryReuse, in the function '\w+', at \S+:\d+:\d+", caught.value.__notes__[0]
    )
    stages = sorted(path.stem for path in (tmp_path / "build/passes_dump").glob("*.py"))
    assert stages[-1] == "33_after_MaterializeSemanticAliases" and len(stages) == 34
    assert not (tmp_path / "build/manifest.json").exists()
    monkeypatch.undo()
    ir.compile(kernels.scale(), tmp_path / "build")


@pytest.mark.parametrize("place", ["", "passes_dump", "report", "passes_dump/00_frontend.py"])
def test_a_build_folder_that_nothing_can_be_written_to_is_one_message(tmp_path, monkeypatch, place):
    """Folders are not told from each other by rights: who runs the tests may have all of them."""
    target = tmp_path / "build" / place
    original = {name: getattr(Path, name) for name in ("mkdir", "write_bytes")}

    def refused(name):
        def call(path, *args, **kwargs):
            if path == target or path.name.startswith(f".{target.name}."):
                raise OSError(errno.EROFS, "Read-only file system", str(path))
            return original[name](path, *args, **kwargs)

        return call

    with monkeypatch.context() as patch, pytest.raises(FileError) as caught:
        for name in original:
            patch.setattr(Path, name, refused(name))
        ir.compile(kernels.scale(), tmp_path / "build")
    assert "Read-only file system" in str(caught.value) and str(target) in str(caught.value)
    assert not [note for note in getattr(caught.value, "__notes__", ()) if "in the pass" in note]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    ir.compile(kernels.scale(), tmp_path / "build")


def test_a_disk_that_is_full_at_the_script_keeps_the_stages(tmp_path):
    (tmp_path / "build/torch").mkdir(parents=True)
    (tmp_path / "build/torch/main.py").symlink_to("/dev/full")
    with pytest.raises(FileError, match="No space left on device") as caught:
        ir.compile(kernels.scale(), tmp_path / "build")
    assert str(tmp_path / "build/torch/main.py") in str(caught.value)
    assert len(list((tmp_path / "build/passes_dump").glob("*.msgpack"))) == 50
    assert not (tmp_path / "build/manifest.json").exists()
