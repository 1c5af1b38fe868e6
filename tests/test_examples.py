"""The kernels of examples/: run as users run them, and as the scripts that are committed for them."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.execution.modules import load_module
from pypto_tmpl.golden import TensorSpec, run_jit
from pypto_tmpl.ir.pass_manager import OptimizationStrategy, PassManager
from pypto_tmpl.snapshots.cases import find_cases
from pypto_tmpl.snapshots.config import find_config
from pypto_tmpl.snapshots.sources import KernelSource

ROOT = Path(__file__).resolve().parent.parent
CASES = [case for case in find_cases(find_config(ROOT)) if isinstance(case.source, KernelSource)]
IDS = [case.source.reference.home.stem for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_script_is_unchanged(case, golden_script):
    golden_script(case)


def tolerances(module):
    """The knobs of the comparison that the file itself runs with."""
    found = {}
    module.main = lambda kernel, specs, golden, flags=(), **knobs: found.update(knobs)
    source = module.__file__
    text = Path(source).read_text()
    exec(compile(text[text.index('if __name__ == "__main__":') :], source, "exec"), {
        **vars(module), "__name__": "__main__",
    })  # fmt: skip
    return found


@pytest.mark.parametrize(
    "options", [{"concise": True}, {"explicit_layout": True}], ids=["concise", "explicit"]
)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_program_prints_as_text_of_itself(case, options):
    module = load_module(case.source.reference.home)
    values = (s.create_tensor() if isinstance(s, TensorSpec) else s.to_python() for s in module.specs())
    program = module.KERNEL.specialize(*values)
    text = ir.python_print(program, format=False, **options)
    assert ir.structural_diff(pl.parse(text), program) is None
    as_source = text.partition("\n")[2]  # without the header line it is read as a user's text
    assert ir.structural_diff(pl.parse(as_source), program) is None


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_kernel_agrees_with_its_golden(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    module = load_module(case.source.reference.home)
    assert isinstance(module.KERNEL, pl.JITFunction)
    torch.manual_seed(1)
    result = run_jit(
        module.KERNEL,
        module.specs(),
        module.golden,
        runtime_cfg={"platform": "a2a3sim"},
        **tolerances(module),
    )
    assert result.passed, result.error


def check_script(module, script, name):
    """Run a script on inputs of the kernel and compare its outputs with the golden."""
    specs = module.specs()
    values = {s.name: s.create_tensor() if isinstance(s, TensorSpec) else s.to_python() for s in specs}
    want = {name: v.clone() if isinstance(v, torch.Tensor) else v for name, v in values.items()}
    module.golden(want)
    namespace = {}
    exec(compile(script, f"<{name}>", "exec"), namespace)
    namespace[module.KERNEL.__name__](*values.values())
    for spec in specs:
        if isinstance(spec, TensorSpec) and spec.is_output:
            got, wanted = values[spec.name].double(), want[spec.name].double()
            share = ((got - wanted).abs() > 2e-2 + 2e-2 * wanted.abs()).double().mean().item()
            assert share <= 0.01, f"{share:.1%} of {spec.name} differs"


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_committed_script_agrees_with_the_golden(case):
    torch.manual_seed(2)
    module = load_module(case.source.reference.home)
    check_script(module, case.script.read_text(), f"golden {case.name}")


@pytest.mark.parametrize(
    ("strategy", "chosen"), [("Default", "Ascend950"), ("DebugTileOptimization", "Ascend910B")]
)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_kernel_agrees_with_the_golden_after_all_passes(case, strategy, chosen):
    torch.manual_seed(3)
    module = load_module(case.source.reference.home)
    values = (s.create_tensor() if isinstance(s, TensorSpec) else s.to_python() for s in module.specs())
    program = module.KERNEL.specialize(*values)
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[chosen])
    try:
        after = PassManager.get_strategy(OptimizationStrategy[strategy]).run_passes(program)
    finally:
        backend.reset_for_testing()
    check_script(module, torch_codegen(after, check_shapes=True), f"{case.name} {strategy} {chosen}")


def test_a_kernel_is_run_from_the_command_line(tmp_path):
    command = [sys.executable, str(ROOT / "examples/softmax.py"), "-p", "a5sim", "-d", "0", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("[RUN] PASS (")


def test_a_kernel_that_is_wrong_ends_with_status_1(tmp_path):
    text = (ROOT / "examples/softmax.py").read_text().replace("pl.row_max(padded)", "pl.row_min(padded)")
    (tmp_path / "wrong.py").write_text(text)
    (tmp_path / "harness.py").write_text((ROOT / "examples/harness.py").read_text())
    done = subprocess.run([sys.executable, "wrong.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "Output(s) does not match golden: ['out']" in done.stdout
