"""The decode scope of examples/scope3_mixed.py, checked in the ways that PyPTO's debugging guide shows.

The steps are the guide's, under the names that it imports and with its tolerances; kernel, inputs and golden
are those of the example.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from pypto_tmpl import compat
from pypto_tmpl.execution.modules import load_module

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/scope3_mixed.py"
IMPORTS = """
from pypto import ir
from pypto.debug import torch_codegen, validate_pass_ir_codegen_results
from pypto.ir.pass_manager import OptimizationStrategy, PassManager
from pypto.backend import BackendType, reset_for_testing, set_backend_type
"""
ORDER = ["attn_out", "hidden_states", "wo", "post_rms_weight", "w_gate", "w_up", "w_down"]


@pytest.fixture
def pypto():
    """What the guide imports."""
    names = {}
    with compat.answering():
        exec(IMPORTS, names)
    return SimpleNamespace(**names)


@pytest.fixture(scope="module")
def scope():
    """The program, its inputs, and what it should compute of them."""
    module = load_module(EXAMPLE)
    torch.manual_seed(42)
    tensors = {spec.name: spec.create_tensor() for spec in module.specs()}
    wanted = {name: tensor.clone() for name, tensor in tensors.items()}
    module.golden(wanted)
    program = module.KERNEL.specialize(*tensors.values())
    return SimpleNamespace(program=program, tensors=tensors, golden_out=wanted["out"])


def lowered(pypto, program, backend="Ascend910B", **dump):
    pypto.reset_for_testing()
    pypto.set_backend_type(pypto.BackendType[backend])
    try:
        manager = pypto.PassManager.get_strategy(pypto.OptimizationStrategy.Default)
        return manager.run_passes(program, **dump)
    finally:
        pypto.reset_for_testing()


def check(code, scope):
    ns = {}
    exec(code, ns)
    out = scope.tensors["out"].clone()
    ns["scope3"](*(scope.tensors[name] for name in ORDER), out)
    assert torch.allclose(out, scope.golden_out, rtol=5e-2, atol=5e-2)


def test_the_inputs_are_those_of_the_guide(scope):
    shapes = {name: tuple(tensor.shape) for name, tensor in scope.tensors.items()}
    assert list(shapes) == [*ORDER, "out"]
    assert set(shapes.values()) == {(16, 512), (512, 512), (1, 512), (512, 1024), (1024, 512)}
    assert scope.golden_out.abs().max() > 0.1  # at these tolerances an output of zeros would not do


def test_the_program_as_it_is_written(pypto, scope):
    check(pypto.torch_codegen(scope.program, check_shapes=True), scope)


@pytest.mark.parametrize("backend", ["Ascend910B", "Ascend950"])
def test_the_program_after_the_default_passes(pypto, scope, backend):
    transformed = lowered(pypto, scope.program, backend)
    code = pypto.torch_codegen(transformed, check_shapes=True)
    assert "_cross_core_rt.push_to_" in code
    assert "_cross_core_rt.pop_from_" in code
    check(code, scope)


def test_every_dumped_stage(pypto, scope, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dump = "build_output/qwen3_decode_scope3_mixed/passes_dump/"
    lowered(pypto, scope.program, dump_ir=True, output_dir=dump)
    expected = {"out": scope.golden_out}
    result = pypto.validate_pass_ir_codegen_results(dump, scope.tensors, expected)
    assert len(result.stages) == 50
    said = capsys.readouterr().out.splitlines()
    at = said.index("==================== 22_after_ExpandMixedKernel ====================")
    line = next(line for line in said[at:] if line.startswith("validate tensor: "))
    assert line.startswith("validate tensor: 'out', max_abs_diff: ") and ", pass: True" in line

    one = f"{dump}22_after_ExpandMixedKernel.py"
    pypto.validate_pass_ir_codegen_results(one, scope.tensors, expected)
    with pytest.raises(AssertionError, match="22_after_ExpandMixedKernel.*max diff") as raised:
        pypto.validate_pass_ir_codegen_results(one, scope.tensors, {"out": scope.golden_out + 1})
    assert "22_after_ExpandMixedKernel.py" in str(raised.value)


def test_a_compiled_program_checks_its_own_dump(pypto, scope, tmp_path):
    expected = {"out": scope.golden_out}
    compiled = pypto.ir.compile(scope.program, output_dir=str(tmp_path / "dumped"))
    compiled.validate_ir(scope.tensors, expected)
    with pytest.raises(AssertionError):
        compiled.validate_ir(scope.tensors, {"out": scope.golden_out + 1})
    bare = pypto.ir.compile(scope.program, output_dir=str(tmp_path / "bare"), dump_passes=False)
    with pytest.raises(FileNotFoundError):
        bare.validate_ir(scope.tensors, expected)
