"""compile_cfg: which knobs there are, and the platform they come to."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile import PassDumpLevel, compile_options
from pypto_tmpl.compile.lower import PassOptions
from pypto_tmpl.compile.options import COMPILE_KNOBS, JIT_COMPILE_KNOBS, with_run_fields


def test_defaults():
    options = compile_options(None)
    assert options.platform.name == "a2a3sim"
    assert (options.output_dir, options.profiling, options.dump_passes) == (
        None,
        False,
        PassDumpLevel.CONCISE,
    )
    assert (options.passes, options.knobs) == (PassOptions(backend=BackendType.Ascend910B), {})


def test_an_unknown_knob_names_the_knobs():
    with pytest.raises(TypeError) as caught:
        compile_options({"dump_pass": True})
    assert str(caught.value) == (
        "error[knob]: compile_cfg has no knob 'dump_pass'\n"
        f"   = knobs: {', '.join(COMPILE_KNOBS)}; did you mean 'dump_passes'?"
    )


def test_jit_functions_take_the_fields_of_run_config_too():
    with pytest.raises(TypeError, match="has no knob 'save_kernels_dir'"):
        compile_options({"save_kernels_dir": "x"})
    cfg = {
        "save_kernels_dir": "x",
        "compile_profiling": True,
        "enable_pmu": 2,
        "skip_ptoas": True,
    }
    options = compile_options(cfg, is_jit=True)
    assert (options.output_dir, options.profiling) == (Path("x"), True)
    assert options.knobs == {"output_dir": "x", "skip_ptoas": True, "profiling": True}
    assert set(COMPILE_KNOBS) < set(JIT_COMPILE_KNOBS)
    with pytest.raises(TypeError, match="has no knob 'nonsense'"):
        compile_options({"nonsense": 1}, is_jit=True)
    with pytest.raises(TypeError, match="'golden_data_dir', .*: give run_jit the argument golden_data"):
        compile_options({"golden_data_dir": "x"}, is_jit=True)


def test_fields_of_run_config_that_say_how_to_run():
    cfg = {"enable_pmu": 4, "enable_dep_gen": True, "ring_heap": 1024, "dump_passes": True, "rtol": 1.0}
    run_fields = {"enable_pmu": 4, "enable_dep_gen": True, "ring_heap": 1024}
    assert with_run_fields(None, cfg) == run_fields
    own = {"enable_pmu": 0, "torch_device": "cpu"}
    assert with_run_fields(own, cfg) == run_fields | own
    old = {"enable_l2_swimlane": True, "enable_dump_tensor": True}
    assert with_run_fields({"enable_chip_swimlane": 1}, old) == {
        "enable_chip_swimlane": 1,
        "enable_dump_tensor": True,
    }


@pytest.mark.parametrize(
    ("cfg", "run_platform", "is_jit", "name"),
    [
        ({}, "a5sim", False, "a5sim"),
        ({}, "a5", False, "a5"),
        ({"platform": "a2a3"}, "a5sim", False, "a2a3"),  # the caller's own value wins
        ({"platform": "a2a3"}, "a5sim", True, "a5sim"),  # but not for a jit function
        ({"platform": "a2a3"}, None, True, "a2a3"),
        ({"backend_type": "Ascend950"}, None, False, "a5sim"),
        ({"backend_type": SimpleNamespace(name="Ascend910B")}, None, False, "a2a3sim"),
        ({"backend_type": "Ascend950", "platform": "a2a3sim"}, None, False, "a2a3sim"),
    ],
)
def test_platforms(cfg, run_platform, is_jit, name):
    assert compile_options(cfg, run_platform, is_jit=is_jit).platform.name == name


@pytest.mark.parametrize(
    ("cfg", "error", "text"),
    [
        (
            {"backend_type": "Ascend1"},
            ValueError,
            "backend_type must be one of Ascend910B, Ascend950, got 'Ascend1'",
        ),
        ({"output_dir": 5}, TypeError, "output_dir must be a str or Path, got int"),
        (
            {"distributed_config": object()},
            ValueError,
            "error[multi-card]: compile_cfg names a distributed_config that is a object\n"
            "   = write pypto_tmpl.runtime.DistributedConfig(device_ids=[0, 1])",
        ),
    ],
)
def test_values_that_knobs_do_not_take(cfg, error, text):
    with pytest.raises(error) as caught:
        compile_options(cfg)
    assert str(caught.value) == text


def test_a_distributed_config_of_none_is_none():
    assert compile_options({"distributed_config": None}).platform.name == "a2a3sim"


@pytest.mark.parametrize("given", [3, "UnusedVariable", ["UnusedVariable"]])
def test_checks_that_are_none_are_refused(given):
    with pytest.raises(TypeError, match=r"^disabled_diagnostics must be a set of DiagnosticCheck.UnusedVar"):
        compile_options({"disabled_diagnostics": given})


@pytest.mark.parametrize("name", ["skip_ptoas", "profiling", "dump_ptoas_passes", "emit_source_loc"])
def test_a_flag_is_no_text(name):
    with pytest.raises(TypeError, match=f"{name} must be a bool, got 'no'"):
        compile_options({name: "no"})
    assert compile_options({name: False}).knobs == {name: False}
