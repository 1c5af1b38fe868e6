"""Programs of several orchestrations: a build for each of them in the build of the program."""

import copy
import json

import pytest
import torch
from click.testing import CliRunner

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.cli import main
from pypto_tmpl.compile import EntryError, StaleBuildError
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.compile.reuse import reuse_build
from pypto_tmpl.debug import ValidationError
from pypto_tmpl.golden import TensorSpec, run
from pypto_tmpl.runtime import RunConfig, execute_compiled
from pypto_tmpl.runtime.manifest import read_manifest

TENSOR = "pl.Tensor[[4, 8], pl.FP32]"
TILE = "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec]"
LOAD = "[0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec"


def two(names=("twice", "square_then_double"), x="x"):
    """twice: out = 2 x; square_then_double: sq = x * x, out = 2 sq; both launch the kernel doubled."""
    first, second = names
    return pl.parse(f"""
import pypto.language as pl


@pl.program
class Two:
    @pl.function(type=pl.FunctionType.InCore)
    def doubled(self, a: {TENSOR}, b: pl.Out[{TENSOR}]) -> {TENSOR}:
        t: {TILE} = pl.tile.load(a, {LOAD})
        u: {TILE} = pl.tile.muls(t, 2.0)
        z: {TENSOR} = pl.tile.store(u, [0, 0], b)
        return z

    @pl.function(type=pl.FunctionType.InCore)
    def square(self, a: {TENSOR}, b: pl.Out[{TENSOR}]) -> {TENSOR}:
        t: {TILE} = pl.tile.load(a, {LOAD})
        u: {TILE} = pl.tile.mul(t, t)
        z: {TENSOR} = pl.tile.store(u, [0, 0], b)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def {first}(self, x: {TENSOR}, out: pl.Out[{TENSOR}]) -> {TENSOR}:
        z: {TENSOR} = self.doubled(x, out)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def {second}(self, {x}: {TENSOR}, sq: pl.Out[{TENSOR}], out: pl.Out[{TENSOR}]) -> {TENSOR}:
        s: {TENSOR} = self.square({x}, sq)
        z: {TENSOR} = self.doubled(s, out)
        return z
""")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture
def without_ptoas(monkeypatch):
    monkeypatch.delenv("PTOAS_ROOT", raising=False)
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def compiled(tmp_path):
    return ir.compile(two(), tmp_path / "build", skip_ptoas=True)


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore:ptoas")
def test_each_has_its_own_files_and_the_whole_has_none_that_calls_need(tmp_path, without_ptoas):
    build = ir.compile(two(), tmp_path / "build").output_dir
    found = files(build)
    tops = {name.split("/")[0] for name in found}
    assert tops <= {"passes_dump", "report", "next_levels", "manifest.json"}
    assert not [
        path for path in build.iterdir() if path.name in ("kernels", "orchestration", "ptoas", "debug")
    ]
    assert not [name for name in found if name.endswith("run.py")]
    own = {
        name: {f for f in files(build / "next_levels" / name) if not f.startswith("torch/")}
        for name in ("twice", "square_then_double")
    }
    always = {"kernel_config.py", "compiled_meta.json", "manifest.json"}
    assert own["twice"] == always | {
        "orchestration/twice.cpp", "ptoas/doubled.pto", "kernels/aiv/doubled.cpp",
    }  # fmt: skip
    assert own["square_then_double"] == always | {
        "orchestration/square_then_double.cpp",
        "ptoas/doubled.pto", "kernels/aiv/doubled.cpp",
        "ptoas/square.pto", "kernels/aiv/square.cpp",
    }  # fmt: skip
    script = build / "next_levels/twice/torch/twice.py"
    assert "def doubled(" in script.read_text() and "def square" not in script.read_text()


def test_the_sidecar_tells_the_parameters_of_its_orchestration(compiled):
    text = (compiled.output_dir / "next_levels/square_then_double/compiled_meta.json").read_text()
    tensor = {"shape": [4, 8], "dtype": "fp32"}
    assert text == json.dumps(
        {
            "schema": 1,
            "params": [
                {"name": "x", "direction": "In", **tensor},
                {"name": "sq", "direction": "Out", **tensor},
                {"name": "out", "direction": "Out", **tensor},
            ],
            "num_return_types": 1,
            "platform": "a2a3sim",
            "backend_type": "Ascend910B",
        },
        indent=2,
    )


def is_right(compiled):
    x = torch.randn(4, 8)
    torch.testing.assert_close(compiled["twice"](x), x + x)
    sq, out = torch.zeros(4, 8), torch.zeros(4, 8)
    assert compiled.square_then_double(x, sq, out) is None
    torch.testing.assert_close(sq, x**2)
    torch.testing.assert_close(out, 2 * x**2)


def test_each_is_called_by_its_name(compiled):
    assert compiled.orchestration_names == ["square_then_double", "twice"]
    one, other = compiled["twice"], compiled.square_then_double
    assert (one.param_names, one.output_indices, one.has_return) == (["x", "out"], [1], True)
    assert (other.param_names, other.output_indices) == (["x", "sq", "out"], [1, 2])
    assert one.orchestration_names == [] and one.output_dir == compiled.output_dir / "next_levels/twice"
    is_right(compiled)
    is_right(copy.copy(compiled))


def test_an_earlier_build_and_one_of_its_parts_are_taken_up(compiled, tmp_path):
    again = CompiledProgram.from_dir(compiled.output_dir)
    assert again.orchestration_names == ["square_then_double", "twice"]
    is_right(again)
    assert CompiledProgram.from_dir(compiled, platform="a2a3")["twice"].platform == "a2a3"
    moved = compiled["twice"].output_dir.rename(tmp_path / "alone")
    x = torch.randn(4, 8)
    torch.testing.assert_close(CompiledProgram.from_dir(moved)(x), 2 * x)
    out = torch.zeros(4, 8)
    execute_compiled(moved, [x, out], storage="planned")
    torch.testing.assert_close(out, 2 * x)


def test_without_dumps_and_without_passes(tmp_path):
    is_right(ir.compile(two(), tmp_path / "a", skip_ptoas=True, dump_passes=False))
    is_right(ir.compile(two(), tmp_path / "b", stage="frontend"))


def test_the_whole_and_unknown_names_are_refused(compiled):
    message = r"square_then_double, twice\): select one explicitly via compiled\['<name>'\]\(\.\.\.\)"
    with pytest.raises(TypeError, match=message):
        compiled(torch.zeros(4, 8))
    for name in ("param_names", "output_indices", "has_return", "runtime_config"):
        with pytest.raises(TypeError, match="select one explicitly"):
            getattr(compiled, name)
    with pytest.raises(KeyError, match="'other': the orchestrations of .* are square_then_double, twice"):
        compiled["other"]
    with pytest.raises(AttributeError, match="neither an attribute nor an orchestration 'doubled'"):
        compiled.doubled  # noqa: B018
    for taken in (lambda: reuse_build(compiled.output_dir), lambda: execute_compiled(compiled, [])):
        with pytest.raises(EntryError, match="several orchestrations: square_then_double, twice"):
            taken()


def test_validation_of_the_whole_goes_by_the_names_of_the_tensors(tmp_path):
    x = torch.randn(4, 8)
    compiled = ir.compile(two(x="y"), tmp_path / "named", skip_ptoas=True)
    assert compiled.validate_ir({"y": x}, {"sq": x * x, "out": 2 * x * x}).passed
    with pytest.raises(ValidationError):
        compiled.validate_ir({"y": x}, {"sq": x * x, "out": 3 * x * x})
    alike = ir.compile(two(), tmp_path / "alike", skip_ptoas=True)
    with pytest.raises(EntryError, match="which of the orchestrations square_then_double, twice is run"):
        alike.validate_ir({"x": x}, {"out": 2 * x})
    assert alike["twice"].validate_ir({"x": x}, {"out": 2 * x}).passed
    assert (
        CompiledProgram.from_dir(alike)["square_then_double"].validate_ir({"x": x}, {"out": 2 * x * x}).passed
    )


def test_the_manifest_names_them_and_the_next_build_removes_what_it_lists(compiled):
    build = compiled.output_dir
    assert read_manifest(build).orchestrations == ("square_then_double", "twice")
    assert {"next_levels/twice/manifest.json", "next_levels/twice/compiled_meta.json"} <= set(
        read_manifest(build).files
    )
    again = ir.compile(two(("one", "other")), build, skip_ptoas=True)
    assert again.orchestration_names == ["one", "other"]
    assert not files(build / "next_levels/twice")


def test_a_script_that_is_missing_is_made_again_from_the_program_of_the_part(compiled):
    part = compiled["twice"].output_dir
    (part / "torch/twice.py").unlink()
    (finding,) = reuse_build(part).findings
    assert finding.done == "generated again from torch/twice.msgpack"
    (part / "torch/twice.py").unlink()
    (part / "torch/twice.msgpack").unlink()
    with pytest.raises(StaleBuildError, match="torch/twice.msgpack is missing"):
        reuse_build(part)


def test_a_part_runs_at_the_stage_that_it_was_made_for(compiled):
    with pytest.raises(ValueError, match="one of several orchestrations: .* compile up to that stage"):
        compiled["twice"](torch.zeros(4, 8), config=RunConfig(stage="frontend"))


def test_the_harness_wants_one_entry(tmp_path):
    result = run(two(), [TensorSpec("x", [4, 8], torch.float32)], compile_cfg={"output_dir": tmp_path / "b"})
    assert not result.passed and "which of 4 functions is the entry is not clear" in result.error
    assert not (tmp_path / "b").exists()


def test_the_command_line_tells_where_each_is(tmp_path):
    (tmp_path / "two.py").write_text(ir.python_print(two()))
    told = CliRunner().invoke(main, ["compile", "two.py", "--skip-ptoas", "--build-dir", "out"])
    assert told.exit_code == 0, told.output
    assert f"orchestration: twice, in {tmp_path / 'out/next_levels/twice'}" in told.output
    assert "script:" not in told.output


def test_orchestrations_that_passes_make_have_no_sidecar(tmp_path):
    """The program as written has one opaque function, of which passes make two orchestrations."""
    region = "        with pl.at(level=pl.Level.CHIP, role=pl.Role.Orchestrator):\n"
    inner = "            with pl.at(level=pl.Level.CORE_GROUP):\n"
    given = pl.parse(f"""
import pypto.language as pl


@pl.program
class Regions:
    @pl.function
    def main(self, x: {TENSOR}, total: pl.Out[{TENSOR}], gap: pl.Out[{TENSOR}]):
{region}{inner}
                total: {TENSOR} = pl.tensor.assemble(total, pl.tensor.add(x, x), [0, 0])
{region}{inner}
                gap: {TENSOR} = pl.tensor.assemble(gap, pl.tensor.mul(x, x), [0, 0])
        return total, gap
""")
    compiled = ir.compile(given, tmp_path / "regions", skip_ptoas=True)
    assert compiled.orchestration_names == ["main_chip_orch_0", "main_chip_orch_1"]
    assert not list(compiled.output_dir.rglob("compiled_meta.json"))
    x = torch.randn(4, 8)
    torch.testing.assert_close(compiled.main_chip_orch_0(x), x + x)
    torch.testing.assert_close(compiled.main_chip_orch_1(x), x * x)
