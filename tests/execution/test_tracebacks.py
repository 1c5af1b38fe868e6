"""Errors in emitted scripts show the line of the script that raised, and name the variable."""

import inspect
import io
import pdb
import traceback

import pytest
import torch
from ir.printer_samples import FP32, NOWHERE, assign, call, function, program, returns, sequence, tensor

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.execution.load import load_script, script_name

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
    assert '_check_tensor("a", a, [4, 8], torch.float32)' in shown
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


TEXT = """import pypto.language as pl

@pl.program
class Sample:
    @pl.function
    def main(self, a: pl.Tensor[[4, 8], pl.FP32]) -> pl.Tensor[[4, 8], pl.FP32]:
        y: pl.Tensor[[4, 8], pl.FP32] = pl.tensor.exp(a)
        return y
"""


def loaded(name: str, text: str = TEXT):
    node = pl.parse(text, "kernel.py")
    return load_script(torch_codegen(node, True), name, node)["main"]


def test_python_tracebacks_and_inspect_name_the_line_of_the_source():
    dumped = TEXT.replace("as pl\n", "as pl", 1).replace("y: pl.Tensor[[4, 8]", "y: pl.Tensor[[4, 16]")
    main = loaded(NAME, f"# pypto.program: Sample\n{dumped}")
    with pytest.raises(ValueError, match="got shape") as raised:
        main(torch.zeros(4, 8))
    shown = "".join(traceback.format_exception(raised.value))
    assert '    _check_tensor("y", y, [4, 16], torch.float32)  # from kernel.py:7\n' in shown
    source = inspect.getsource(main)
    assert [line.rpartition("  # from ")[2] for line in source.splitlines() if "torch.exp" in line] == [
        "kernel.py:7"
    ]
    assert source.splitlines()[0] == "def main(a):"


def test_pdb_stops_in_a_script_of_any_name_and_shows_the_source_line():
    main = loaded("sample")
    assert main.__code__.co_filename == "<sample>"
    lines, first = inspect.getsourcelines(main)
    number = first + next(i for i, line in enumerate(lines) if "torch.exp" in line)
    shown = io.StringIO()
    commands = io.StringIO(f"b {number}\nc\np tuple(a.shape)\nc\n")
    debugger = pdb.Pdb(stdin=commands, stdout=shown, nosigint=True)
    debugger.runcall(main, torch.zeros(4, 8))
    assert f"> <sample>({number})main()" in shown.getvalue()
    assert "-> y = torch.exp(a)  # from kernel.py:7" in shown.getvalue()
    assert "(4, 8)" in shown.getvalue()
