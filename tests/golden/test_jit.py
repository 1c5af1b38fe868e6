"""run_jit: functions that are specialised for the specs."""

import inspect

import torch
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl.golden import ScalarSpec, TensorSpec, run, run_jit
from pypto_tmpl.passes import PassPipeline, create_program_pass


class Jit:
    """A function of the protocol; it keeps what it was specialised for."""

    __name__ = "scale_kernel"

    def __init__(self):
        self.args = None

    def specialize(self, *args):
        self.args = args
        return kernels.scale()


def golden(values):
    values["y"][:] = values["x"] * values["n"]


def test_a_function_is_specialised_for_shapes_dtypes_and_scalar_values(scale_specs, console):
    function = Jit()
    result = run_jit(fn=function, specs=scale_specs, golden_fn=golden)
    assert result.passed, result.error
    x, n, y = function.args
    assert [(tuple(t.shape), t.dtype) for t in (x, y)] == [((4, 8), torch.float32)] * 2
    assert (type(n), n) == (float, 3.0)
    assert console()[0] == "[RUN] compile ..."
    assert result.work_dir.name.startswith("Scale_")
    assert (result.work_dir / "passes_dump/00_frontend.py").is_file()


def test_specialising_allocates_nothing():
    function = Jit()
    huge = [TensorSpec("x", [1 << 20, 1 << 20], torch.float32), ScalarSpec("n", torch.float32, 1)]
    run_jit(function, huge, compile_only=True)
    assert tuple(function.args[0].shape) == (1 << 20, 1 << 20)


def test_a_function_that_only_lowers(scale_specs, monkeypatch):
    """Its program has been through the passes, which do not run again; that of others goes through them."""

    class Lowered:
        def lower(self, *args):
            return kernels.scale()

    lowered = []

    def note(program):
        lowered.append(program.name)
        return program

    pipeline = PassPipeline([create_program_pass(note, "Note")])
    monkeypatch.setattr(
        "pypto_tmpl.compile.lower.pipeline_for",
        lambda options: PassPipeline() if options.stage == "frontend" else pipeline,
    )
    assert run_jit(Lowered(), scale_specs, golden).passed
    assert lowered == []
    assert run_jit(Jit(), scale_specs, golden).passed
    assert lowered == [kernels.scale().name]


def test_what_is_no_jit_function(scale_specs):
    result = run_jit(golden, scale_specs)
    assert (result.phase, result.error) == (
        "compile",
        "fn is a function, not a @pl.jit function\n"
        "   = functions: objects with specialize(*args) or lower(*args), giving an ir.Program",
    )

    class Wrong:
        def specialize(self, *args):
            return "program"

    assert run_jit(Wrong(), scale_specs).error == "Wrong was specialised to a str, not a program"


def test_an_error_of_the_front_end(scale_specs):
    class Broken:
        def specialize(self, *args):
            raise ValueError("kernel.py:3: no such op")

    result = run_jit(Broken(), scale_specs)
    assert result.phase == "compile"
    assert result.error.startswith(f"compile: ValueError: kernel.py:3: no such op\n  at {__file__}:")


def test_reuse_of_a_build(scale_specs, console):
    work_dir = run_jit(Jit(), scale_specs, golden).work_dir
    console()
    result = run_jit(object(), scale_specs, golden, runtime_dir=work_dir)
    assert result.passed, result.error
    assert console()[0] == f"[RUN] runtime_only: skipping JIT compile, using {work_dir}"


def test_compile_cfg_holds_fields_of_run_config_and_the_runs_platform_wins(scale_specs):
    result = run_jit(
        Jit(),
        scale_specs,
        golden,
        compile_cfg={"platform": "a2a3", "save_kernels_dir": "kept", "dump_passes": False, "enable_pmu": 0},
        runtime_cfg={"platform": "a5sim"},
    )
    assert result.passed, result.error
    assert result.work_dir.name == "kept"
    assert not (result.work_dir / "passes_dump").exists()


def test_golden_only_is_named_after_the_function(scale_specs):
    function = Jit()
    result = run_jit(function, scale_specs, golden, golden_only=True)
    assert result.passed
    assert result.work_dir.name.startswith("scale_kernel_")
    assert function.args is None


def test_a_kernel_with_an_error_shows_its_line(scale_specs):
    @pl.jit
    def kernel(x: pl.Tensor, n: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor]):
        y = pl.assemble(y, pl.mul(x, m), [0, 0])  # noqa: F821
        return y

    result = run_jit(kernel, scale_specs, golden)
    line = inspect.getsourcelines(kernel)[1] + 2
    margin = " " * (len(str(line)) + 1)
    assert (result.phase, result.error) == (
        "compile",
        "compile: UndefinedVariableError: undefined variable 'm'\n"
        f"  --> {__file__}:{line}:38\n"
        f" {margin}|\n"
        f" {line} |         y = pl.assemble(y, pl.mul(x, m), [0, 0])  # noqa: F821\n"
        f" {margin}|                                      ^",
    )


def test_a_kernel_of_the_language(scale_specs):
    @pl.jit
    def kernel(x: pl.Tensor, n: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.assemble(y, pl.mul(x, n), [0, 0])
        return y

    assert run_jit(kernel, scale_specs, golden).passed
    assert run(kernel, scale_specs, golden).error == (
        "program is a JITFunction, not a program\n"
        "   = programs: ir.Program, an object with as_ir(), the path of a .msgpack or .py dump\n"
        "   = a @pl.jit function is run by run_jit(fn=...)"
    )


def test_fields_of_run_config_that_say_how_to_run_take_effect(scale_specs):
    cfg = {"enable_dep_gen": True, "platform": "a5sim"}
    result = run_jit(Jit(), scale_specs, golden, compile_cfg=cfg)
    assert result.passed, result.error  # it runs on the platform that it was compiled for
    assert (result.work_dir / "dfx_outputs/deps.json").is_file()
    result = run_jit(Jit(), scale_specs, golden, compile_cfg=cfg, runtime_cfg={"enable_dep_gen": False})
    assert result.passed and not (result.work_dir / "dfx_outputs").exists()
    result = run_jit(Jit(), scale_specs, golden, compile_cfg={"enable_chip_swimlane": 9})
    assert (result.phase, result.error_type) == ("arguments", "ValueError")


def test_only_generating_code_is_only_compiling(scale_specs, console):
    assert run_jit(Jit(), scale_specs, golden, compile_cfg={"codegen_only": True}).passed
    assert console() == ["[RUN] compile ...", "[RUN] compile done (T)", "[RUN] PASS (T)"]


def test_fields_of_run_config_that_decide_nothing(scale_specs):
    result = run_jit(Jit(), scale_specs, golden, compile_cfg={"rtol": 1e-2})
    text = "compile_cfg has 'rtol', which decides nothing there: give run_jit the argument rtol"
    assert result.error == f"arguments: KnobError: {text}"
