"""Every failure is a result that names its phase, type and text and keeps the traceback."""

import re

import pytest
import torch
from runtime import kernels

from pypto_tmpl.golden import ScalarSpec, TensorSpec, run, run_jit


def facts(result):
    assert not result.passed
    return result.phase, result.error_type, result.error


def test_a_golden_function_that_raises(run_scale, console):
    def golden(values):
        values["y"][:] = values["missing"]

    result = run_scale(golden_fn=golden)
    line = golden.__code__.co_firstlineno + 1
    text = f"compute golden: KeyError: 'missing'\n  at {__file__}:{line}, in golden"
    assert facts(result) == ("compute golden", "KeyError", text)
    assert console()[-1] == "[RUN] compute golden done (T)"
    assert 'values["y"][:] = values["missing"]' in result.traceback
    assert str(result).startswith(f"FAIL: {text} (")
    assert result.work_dir.is_dir()
    assert result.execution_time > 0


def test_an_unknown_compile_knob(run_scale, console):
    phase, kind, text = facts(run_scale(compile_cfg={"dump_pass": True}))
    assert (phase, kind) == ("arguments", "KnobError")
    assert re.fullmatch(
        r"arguments: KnobError: compile_cfg has no knob 'dump_pass'\n"
        r"   = knobs: output_dir, strategy, dump_passes, .*; did you mean 'dump_passes'\?",
        text,
    )
    assert console() == []


def test_an_unknown_runtime_knob(run_scale):
    phase, kind, text = facts(run_scale(runtime_cfg={"platfrom": "a2a3sim"}))
    assert (phase, kind) == ("arguments", "KnobError")
    assert text.startswith("arguments: KnobError: runtime_cfg has no knob 'platfrom'\n   = knobs: platform, ")


def test_a_kernel_that_raises(console):
    specs = [
        TensorSpec("a", [3], torch.float32, 1.0),
        TensorSpec("b", [2], torch.float32, 1.0),
        TensorSpec("y", [3], torch.float32, is_output=True),
    ]
    result = run(kernels.dynamic_sum(), specs, lambda values: None)
    phase, kind, text = facts(result)
    assert (phase, kind) == ("runtime", "RuntimeError")
    assert text.startswith(
        "runtime: RuntimeError: The size of tensor a (3) must match the size of tensor b (2)"
    )
    script = result.work_dir / "torch/main.py"
    line = script.read_text().splitlines().index("    s__ssa_v0 = a__ssa_v0 + b__ssa_v0") + 1
    text = "s__ssa_v0 = a__ssa_v0 + b__ssa_v0  # from dynamicsum.py:12"
    assert f'File "{script}", line {line}, in main\n    {text}\n' in result.traceback
    assert console()[-2:] == ["[RUN] runtime ...", "[RUN] runtime done (T)"]
    # What was saved before the crash can be replayed.
    assert sorted(p.name for p in (result.work_dir / "data").rglob("*.pt")) == ["a.pt", "b.pt", "y.pt"]


def test_two_outputs_that_are_wrong_are_both_named():
    specs = [
        TensorSpec("x", [4], torch.float32, torch.zeros),
        TensorSpec("a", [4], torch.float32, is_output=True),
        TensorSpec("b", [4], torch.float32, is_output=True),
    ]
    phase, kind, text = facts(run(kernels.twice(), specs, lambda values: None))
    assert (phase, kind) == ("validate", "ValidationError")
    assert text.splitlines()[0] == "Output(s) does not match golden: ['a', 'b']"
    assert [line for line in text.splitlines() if "FAIL" in line] == [
        "  'a' FAIL  shape=(4,) dtype=torch.float32",
        "  'b' FAIL  shape=(4,) dtype=torch.float32",
    ]


def test_a_program_that_does_not_compile(run_scale, tmp_path):
    from pypto_tmpl import ir

    result = run_scale(program=ir.Program([], "Empty", ir.Span.unknown()))
    assert facts(result) == (
        "compile",
        "EntryError",
        "compile: EntryError: the program has no function to run",
    )
    assert result.work_dir is None
    assert list(tmp_path.iterdir()) == []


def test_a_stage_that_there_is_not_leaves_no_directory(run_scale, tmp_path):
    result = run_scale(runtime_cfg={"stage": "nope"})
    assert facts(result)[:2] == ("compile", "StageNameError")
    assert result.error.startswith("compile: StageNameError: there is no stage 'nope'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a2a3", "a5"])
def test_a_device_is_refused_before_anything_is_done(run_scale, console, name):
    result = run_scale(runtime_cfg={"platform": name})
    assert facts(result) == (
        "arguments",
        "HardwareNeededError",
        f"arguments: HardwareNeededError: platform '{name}' needs a real Ascend NPU, which is not driven "
        f"from here\n   = run on its simulated platform instead: '{name}sim'",
    )
    assert console() == []


def test_an_unknown_platform(run_scale):
    phase, kind, text = facts(run_scale(runtime_cfg={"platform": "x"}))
    assert text == (
        "arguments: UnknownPlatformError: Unknown runtime platform 'x'; "
        "expected one of ['a2a3', 'a2a3sim', 'a5', 'a5sim']"
    )


def test_several_cards(run_scale):
    assert facts(run_scale(compile_cfg={"distributed_config": object()})) == (
        "arguments",
        "MultiCardError",
        "arguments: MultiCardError: compile_cfg names a distributed_config that is a object\n"
        "   = write pypto_tmpl.runtime.DistributedConfig(device_ids=[0, 1])",
    )


def test_initial_values_that_fail(run_scale, scale_specs):
    scale_specs[0].init_value = lambda: 1 / 0
    phase, kind, text = facts(run_scale())
    assert (phase, kind) == ("generate inputs", "ZeroDivisionError")
    assert text.splitlines()[0] == "generate inputs: ZeroDivisionError: division by zero"
    assert text.splitlines()[1] == "  in making the initial value of 'x'"
    assert text.splitlines()[2].startswith(f"  at {__file__}:")
    scale_specs[0].init_value = torch.zeros(8, 4)
    assert facts(run_scale()) == (
        "generate inputs",
        "HarnessError",
        "init_value of 'x' has shape (8, 4), the spec (4, 8)",
    )
    scale_specs[0].init_value = "random"
    assert facts(run_scale())[2] == (
        "generate inputs: TypeError: Unsupported init_value type <class 'str'> for tensor 'x'"
    )


def test_specs_that_do_not_fit_the_entry(run_scale, scale_specs):
    assert facts(run_scale(specs=scale_specs[:2]))[2] == (
        "entry 'main' has 3 parameters, there are 2 specs\n   = parameters: x, n, y\n   = specs: x, n"
    )
    assert facts(run_scale(specs=[scale_specs[i] for i in (0, 2, 1)]))[2] == (
        "the specs are not in the order of the parameters of 'main'\n"
        "   = parameters: x, n, y\n"
        "   = specs: x, y, n"
    )
    scale_specs[0] = TensorSpec("x", [4, 9], torch.float32)
    assert facts(run_scale(golden_fn=None)) == (
        "runtime",
        "ArgumentError",
        "runtime: ArgumentError: tensor 'x' has shape [4, 9], the parameter has [4, 8]",
    )


def test_names_of_their_own_go_by_their_order(run_scale, scale_specs):
    """As on a device, where only the order counts."""
    scale_specs[0].name, scale_specs[2].name = "left", "result"

    def golden(values):
        values["result"][:] = values["left"] * values["n"]

    assert run_scale(golden_fn=golden).passed


@pytest.mark.parametrize(
    ("specs", "text"),
    [
        ([3], "specs[0] is a builtins.int\n   = specs: golden.TensorSpec, golden.ScalarSpec"),
        ([ScalarSpec("n", torch.int8, 1)] * 2, "two specs are named 'n'"),
        ([ScalarSpec("a/b", torch.int8, 1)], "spec name 'a/b' is no name of a parameter"),
        ([ScalarSpec("..", torch.int8, 1)], "spec name '..' is no name of a parameter"),
    ],
)
def test_specs_that_are_none(run_scale, specs, text):
    assert facts(run_scale(specs=specs)) == ("arguments", "HarnessError", text)


@pytest.mark.parametrize("tolerance", [{"rtol": -1.0}, {"atol": float("nan")}])
def test_tolerances_that_are_none(run_scale, tolerance):
    ((name, value),) = tolerance.items()
    assert facts(run_scale(**tolerance))[2] == f"{name} must be 0 or more, got {value!r}"


@pytest.mark.parametrize(
    "knobs", [{"specs": None}, {"golden_data": 5}, {"rtol": "1e-3"}, {"compile_cfg": [1]}, {"runtime_cfg": 7}]
)
def test_arguments_of_the_wrong_type_raise_nothing(run_scale, knobs):
    phase, kind, _ = facts(run_scale(**knobs))
    assert (phase, kind) in [("arguments", "TypeError"), ("arguments", "KnobError")]
    function = type("Jit", (), {"specialize": lambda self, *args: kernels.scale()})()
    assert facts(run_jit(function, **{"specs": []} | knobs))[0] == "arguments"


def test_a_non_contiguous_initial_tensor_is_refused_as_on_a_device(run_scale, scale_specs):
    scale_specs[0].init_value = torch.zeros(8, 4).t()
    assert facts(run_scale(golden_fn=None))[2] == (
        "runtime: ArgumentError: tensor 'x' is not contiguous\n   = pass tensor.contiguous()"
    )


@pytest.mark.parametrize(
    ("golden", "text"),
    [
        (lambda values: values.update(y=[1.0]), "golden_fn set the output 'y' to a list, not a tensor"),
        (lambda values: values.pop("y"), "golden_fn removed the output 'y'"),
    ],
)
def test_goldens_that_are_none(run_scale, golden, text):
    assert facts(run_scale(golden_fn=golden)) == ("compute golden", "HarnessError", text)


def test_a_golden_of_another_shape_is_a_mismatch(run_scale):
    def golden(values):
        values["y"] = torch.zeros(1)

    assert facts(run_scale(golden_fn=golden)) == (
        "validate",
        "ValidationError",
        "Output(s) does not match golden: ['y']\n"
        "  'y' FAIL  shape=(4, 8) dtype=torch.float32\n"
        "    shape mismatch: actual (4, 8), expected (1,)",
    )


def test_an_interrupt_is_not_a_failure(run_scale):
    def golden(values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scale(golden_fn=golden)


def test_data_says_what_its_run_came_to(run_scale):
    import json

    def result_of(run_result):
        return json.loads((run_result.work_dir / "data/manifest.json").read_text())["result"]

    assert result_of(run_scale()) == "passed"
    assert result_of(run_scale(golden_fn=lambda values: None)) == "failed: validate"
    assert result_of(run_scale(golden_fn=None)) == "not validated"
    assert result_of(run_scale(golden_fn=lambda values: 1 / 0)) == "failed: compute golden"


def test_specs_that_are_no_tensors(run_scale, scale_specs):
    scale_specs[0].dtype = "float32"
    text = "spec 'x': dtype must be a torch.dtype, got 'float32'"
    assert facts(run_scale()) == ("arguments", "HarnessError", text)
    scale_specs[0].dtype, scale_specs[0].shape = torch.float32, [4, -8]
    assert facts(run_scale())[2] == "spec 'x': the shape must hold ints, 0 or more, got [4, -8]"


def test_an_initial_value_that_cannot_be_made_is_named(run_scale, scale_specs):
    scale_specs[0].init_value = torch.empty  # it is called without a shape
    lines = facts(run_scale())[2].splitlines()
    assert lines[0].startswith("generate inputs: TypeError: empty() ")
    assert lines[1:] == ["  in making the initial value of 'x'"]


def test_a_build_directory_that_cannot_be_made(run_scale, tmp_path):
    (tmp_path / "taken").write_text("")
    result = run_scale(compile_cfg={"output_dir": "taken"})
    assert facts(result) == (
        "compile",
        "FileError",
        "compile: FileError: the build directory taken cannot be made (output_dir): File exists\n"
        "   = set output_dir in compile_cfg, or PYPTO_PROG_BUILD_DIR, to where builds may go",
    )


def test_a_build_for_another_backend_is_refused_before_inputs_are_made(run_scale, console):
    build = run_scale(runtime_cfg={"platform": "a5sim"}).work_dir
    console()
    result = run_scale(runtime_dir=build, runtime_cfg={"platform": "a2a3sim"})
    assert facts(result) == (
        "arguments",
        "BackendMismatchError",
        "arguments: BackendMismatchError: the build is for Ascend950, platform 'a2a3sim' is Ascend910B\n"
        "   = compile the program for platform 'a2a3sim', or run it on 'a5sim'",
    )
    assert not any("generate inputs" in line for line in console())
    assert run_scale(runtime_dir=build).passed  # without a platform it is the build's
    assert run_scale(compile_cfg={"platform": "a5sim"}).passed


def test_comparators_of_what_is_no_output_are_named(run_scale, console):
    assert run_scale(compare_fn={"yy": lambda *a, **k: (False, "")}).passed
    assert "[RUN]   compare_fn has comparators of what is no output: yy" in console()


def test_specs_under_other_names_go_by_position(run_scale, scale_specs, console):
    scale_specs[0].name = "input"

    def golden(values):
        values["y"][:] = values["input"] * values["n"]

    assert run_scale(golden_fn=golden).passed
    assert "[RUN]   specs go by position: 'input' is given as 'x'" in console()
    assert run_scale().error.startswith("compute golden: KeyError: 'x'\n  at ")
