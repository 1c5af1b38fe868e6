"""``ir.compile`` and ``runtime.run``: compiled programs, what they tell of themselves, and their calls."""

import os
import re

import pytest
import torch
from runtime import kernels

from pypto_tmpl import backend, ir, rewrite, runtime
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.debug import ValidationError
from pypto_tmpl.passes import PassContext, RuntimeKind, VerificationLevel
from pypto_tmpl.runtime import HardwareNeededError, MultiCardError, RunConfig


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture
def scale(tmp_path):
    """y = n * x over [4, 8]."""
    return ir.compile(kernels.scale(), tmp_path / "build")


def test_what_it_tells_of_itself(scale, tmp_path):
    assert (scale.output_dir, scale.platform, scale.backend_type) == (
        tmp_path / "build", "a2a3sim", "Ascend910B",
    )  # fmt: skip
    assert (scale.param_names, scale.output_indices, scale.has_return) == (["x", "n", "y"], [2], True)
    assert ir.structural_equal(scale.program, kernels.scale())
    assert str(scale) == os.fspath(scale) == str(tmp_path / "build")
    assert repr(scale) == f"CompiledProgram({tmp_path / 'build'})"
    again = CompiledProgram.from_dir(tmp_path / "build")
    assert again == scale == str(tmp_path / "build")
    assert (hash(again), again.program) == (hash(scale), None)


def test_an_earlier_build_may_be_for_another_platform_of_its_backend(scale):
    assert CompiledProgram.from_dir(scale, platform="a2a3").platform == "a2a3"
    assert CompiledProgram.from_dir(scale, backend_type=backend.BackendType.Ascend910B).platform == "a2a3sim"
    for given in ({"platform": "a5sim"}, {"backend_type": backend.BackendType.Ascend950}):
        with pytest.raises(ValueError, match="the build is for Ascend910B, platform 'a5sim' is Ascend950"):
            CompiledProgram.from_dir(scale, **given)


def test_an_unknown_platform_is_told_in_the_words_of_pypto(scale, tmp_path):
    text = "Invalid platform 'a6'. Expected 'a2a3sim', 'a2a3', 'a5sim', or 'a5'."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ir.compile(kernels.scale(), tmp_path / "other", platform="a6")
    assert not (tmp_path / "other").exists()
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        CompiledProgram.from_dir(scale, platform="a6")


def test_a_call_with_another_shape_is_one_warning(scale):
    x, y = torch.ones(2, 8), torch.zeros(4, 8)
    with pytest.warns(UserWarning) as found:
        scale(x, 3.0, y)
    (warning,) = found
    assert str(warning.message) == "tensor 'x' has shape [2, 8], the parameter has [4, 8]"
    assert warning.filename == __file__ and (y[:2] == 3).all()


def test_a_call_in_place(scale):
    x, y = torch.randn(4, 8), torch.zeros(4, 8)
    assert scale(x, 3.0, y) is None
    torch.testing.assert_close(y, 3 * x)
    assert scale(x, 2, y, config=RunConfig(platform="a2a3sim")) is None
    torch.testing.assert_close(y, 2 * x)


def test_a_call_that_returns_its_outputs(scale):
    x = torch.randn(4, 8)
    torch.testing.assert_close(scale(x, 3.0), 3 * x)
    torch.testing.assert_close(CompiledProgram.from_dir(scale)(x, 3.0), 3 * x)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            [torch.zeros(4, 8)],
            r"CompiledProgram expects 3 \(in-place\) or 2 \(return\) arguments, got 1. Param",
        ),
        ([torch.zeros(4, 8), torch.tensor(3.0)], "scalar 'n' is given a tensor"),
        ([torch.zeros(4, 8), "3"], "scalar 'n' is FP32, got str"),
        ([3.0, 3.0], "must be torch.Tensor, DeviceTensor or ctypes scalar, got float"),
    ],
)
def test_arguments_that_do_not_fit(scale, args, message):
    with pytest.raises(TypeError, match=message):
        scale(*args)


def test_devices_and_several_cards_are_refused(scale):
    with pytest.raises(HardwareNeededError):
        scale(torch.zeros(4, 8), 1.0, config=RunConfig(platform="a2a3"))
    with pytest.raises(MultiCardError):
        ir.compile(kernels.scale(), distributed_config=runtime.DistributedConfig(device_ids=[0, 1]))


def test_where_it_goes_and_what_is_dumped():
    compiled = ir.compile(kernels.scale(), dump_passes=False, profiling=True, platform="a5sim")
    assert compiled.output_dir.parent.name == "build_output"
    assert compiled.output_dir.name.startswith("Scale_")
    assert (compiled.platform, (compiled.output_dir / "passes_dump").exists()) == ("a5sim", False)
    assert (compiled.output_dir / "report/pipeline_profile.json").is_file()


def test_the_backend_of_the_process_is_kept():
    backend.set_backend_type(backend.BackendType.Ascend910B)
    with pytest.raises(ValueError, match="already set to Ascend910B, cannot change to Ascend950"):
        ir.compile(kernels.scale(), platform="a5sim")
    with pytest.raises(ValueError, match="already set to Ascend910B, cannot change to Ascend950"):
        ir.compile(kernels.scale(), backend_type=backend.BackendType.Ascend950)
    assert os.listdir() == []
    assert ir.compile(kernels.scale()).backend_type == "Ascend910B"


def test_what_is_no_program_or_platform():
    with pytest.raises(TypeError, match="compile takes an ir.Program, got str"):
        ir.compile("program")
    with pytest.raises(ValueError, match="Invalid platform 'a3'"):
        ir.compile(kernels.scale(), platform="a3")


def test_the_stages_are_validated(scale):
    x, n = torch.randn(4, 8), 3.0
    assert scale.validate_ir({"x": x, "n": n}, {"y": 3 * x}).passed
    with pytest.raises(ValidationError):
        scale.validate_ir({"x": x, "n": n}, {"y": 4 * x})
    without = ir.compile(kernels.scale(), dump_passes=False)
    with pytest.raises(FileNotFoundError, match="No passes_dump/ under"):
        without.validate_ir({"x": x, "n": n}, {"y": 3 * x})


def test_compile_and_run():
    x, y = torch.randn(4, 8), torch.zeros(4, 8)
    compiled = runtime.run(kernels.scale(), x, 3.0, y, config=RunConfig(save_kernels_dir="kept"))
    torch.testing.assert_close(y, 3 * x)
    assert compiled.output_dir.name == "kept"
    runtime.run(kernels.scale(), x, 5.0, y, config=RunConfig(codegen_only=True))
    torch.testing.assert_close(y, 3 * x)


def test_what_the_run_time_of_a_device_is_told(tmp_path):
    knobs = {"runtime": RuntimeKind.HOST_BUILD_GRAPH}
    compiled = ir.compile(kernels.scale(), tmp_path / "all", **knobs)
    assert compiled.runtime_name == "host_build_graph"
    assert compiled.runtime_config == {"runtime": "host_build_graph", "aicpu_thread_num": 0}
    assert CompiledProgram.from_dir(tmp_path / "all").runtime_config == compiled.runtime_config
    without = ir.compile(kernels.scale(), tmp_path / "some", skip_ptoas=True)
    with pytest.raises(FileNotFoundError, match="No kernel_config.py under .*some. Compile all stages"):
        without.runtime_config  # noqa: B018
    assert compiled.load() is None
    with pytest.raises(NotImplementedError, match="holds binaries for a device"):
        compiled.chip_callable  # noqa: B018
    with pytest.raises(KeyError, match="'other': .* has one entry"):
        compiled["other"]
    with pytest.raises(AttributeError):
        compiled.other  # noqa: B018


def test_what_is_refused_leaves_no_folder(tmp_path):
    """Neither an unknown stage, nor a setting of the context, nor a program without an entry."""
    with pytest.raises(ValueError, match="there is no stage 'nope'"):
        ir.compile(kernels.scale(), stage="nope")
    with (
        PassContext([]),
        pytest.raises(RuntimeError, match="compile\\(\\) was called with verification_level"),
    ):
        ir.compile(kernels.scale(), verification_level=VerificationLevel.NONE)
    kernel = kernels.scale().get_function("kernel")
    two = ir.Program([kernel, rewrite.build(kernel, name="second")], "Two", kernel.span)
    with pytest.raises(ValueError, match="entry"):
        ir.compile(two, tmp_path / "two")
    assert list(tmp_path.iterdir()) == []
