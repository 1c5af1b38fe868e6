"""Errors in emitted scripts show the line of the script that raised, and name the variable."""

import traceback

import pytest
import torch
from ir.printer_samples import FP32, NOWHERE, assign, call, function, program, returns, sequence, tensor

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.debug.execution import load_script, script_name

NAME = script_name("Sample", "22_after_ExpandMixedKernel")
SMALL, LARGE = ir.TensorType([4, 8], FP32), ir.TensorType([4, 16], FP32)


def sample(result: ir.Type, op: str, *types: ir.Type) -> ir.Program:
    """``y = op(a, ...)`` with y of the type ``result``, whatever the op computes."""
    params = [tensor(name, type_) for name, type_ in zip("ab", types, strict=False)]
    y = tensor("y", result)
    value = ir.Call(ir.Op(op), params, {}, result, NOWHERE)
    return program(function("main", params, sequence(assign(y, value), returns(y)), [result]))


def failure(node: ir.Program, *tensors: torch.Tensor, check_shapes: bool) -> tuple[Exception, str]:
    """What the script raises on these tensors, and the whole traceback as Python shows it."""
    script = torch_codegen(node, check_shapes)
    main = load_script(script, NAME)["main"]
    with pytest.raises(Exception) as raised:
        main(*tensors)
    return raised.value, "".join(traceback.format_exception(raised.value))


def test_the_line_of_the_script_that_fails_is_shown():
    node = sample(LARGE, "tensor.matmul", SMALL, SMALL)
    error, shown = failure(node, torch.zeros(4, 8), torch.zeros(4, 8), check_shapes=False)
    assert isinstance(error, RuntimeError)
    script_lines = [line.strip() for line in shown.splitlines() if line.strip().startswith("y = ")]
    assert len(script_lines) == 1
    assert f'File "{NAME}", line ' in shown and "<pypto_tmpl sample 22_after_ExpandMixedKernel>" in shown


def test_a_wrong_argument_is_named():
    node = sample(SMALL, "tensor.exp", SMALL)
    error, shown = failure(node, torch.zeros(4, 8, dtype=torch.float64), check_shapes=True)
    assert isinstance(error, TypeError)
    assert str(error) == "a: got a tensor of torch.float64, expected torch.float32"
    assert '_check_dtype("a", a, torch.float32)' in shown
    error, _ = failure(node, 3, check_shapes=True)
    assert str(error) == "a: got int, expected a tensor of torch.float32"


def test_a_value_that_does_not_have_its_type_is_named():
    error, shown = failure(sample(LARGE, "tensor.exp", SMALL), torch.zeros(4, 8), check_shapes=True)
    assert isinstance(error, ValueError)
    assert str(error) == "y: got shape [4, 8], expected [4, 16]"
    assert '_check_tensor("y", y, [4, 16], torch.float32)' in shown


def test_a_call_keeps_the_frames_of_both_functions():
    a, b, y, z = (
        tensor(name, type_) for name, type_ in (("a", SMALL), ("b", SMALL), ("y", LARGE), ("z", LARGE))
    )
    inner = function(
        "inner", [b], sequence(assign(y, call("tensor.exp", b, type=LARGE)), returns(y)), [LARGE]
    )
    launch = ir.Call(ir.GlobalVar("inner"), [a], {}, LARGE, NOWHERE)
    outer = function("main", [a], sequence(assign(z, launch), returns(z)), [LARGE])
    error, shown = failure(program(inner, outer), torch.zeros(4, 8), check_shapes=True)
    assert str(error) == "y: got shape [4, 8], expected [4, 16]"
    assert "in main\n    z = inner(a)" in shown and "in inner\n" in shown
