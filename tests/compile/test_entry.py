"""The entry function of a program."""

from pathlib import Path

import pytest
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.compile import find_entry

CORPUS = Path(__file__).resolve().parent.parent / "corpus/dumps/dynamic_rows/Ascend910B"
SPAN = ir.Span.unknown()
TENSOR = "pl.Tensor[[4], pl.FP32]"


def program(*functions):
    """Functions that take x and return it, or what a function they call returns: (name, type, callee)."""
    text = "import pypto.language as pl\n\n\n@pl.program\nclass P:\n"
    for name, kind, callee in functions:
        value = f"self.{callee}(x)" if callee else "x"
        text += f"    @pl.function(type=pl.FunctionType.{kind})\n"
        text += f"    def {name}(self, x: {TENSOR}) -> {TENSOR}:\n        return {value}\n\n"
    return pl.parse(text)


def test_the_orchestration_function():
    entry = find_entry(kernels.scale())
    assert entry.name == "main"
    assert [(p.name, p.direction, p.is_written) for p in entry.parameters] == [
        ("x", "In", False),
        ("n", "In", False),
        ("y", "Out", True),
    ]


def test_orchestration_goes_before_opaque():
    assert find_entry(program(("a", "Opaque", ""), ("b", "Orchestration", ""))).name == "b"


def test_the_opaque_function_that_no_other_calls():
    assert find_entry(program(("a", "Opaque", ""), ("b", "Opaque", "a"))).name == "b"


def test_the_only_function():
    assert find_entry(program(("a", "InCore", ""))).name == "a"


@pytest.mark.parametrize(
    ("functions", "candidates"),
    [
        ([("a", "Opaque", ""), ("b", "Opaque", ""), ("c", "InCore", "")], ["a(x), Opaque", "b(x), Opaque"]),
        ([("a", "InCore", ""), ("b", "InCore", "")], ["a(x), InCore", "b(x), InCore"]),
    ],
)
def test_an_entry_that_cannot_be_told(functions, candidates):
    with pytest.raises(ValueError) as caught:
        find_entry(program(*functions))
    listed = "".join(f"   =   {candidate}\n" for candidate in candidates)
    assert str(caught.value) == (
        f"error[entry]: which of {len(functions)} functions is the entry is not clear\n"
        f"   = candidates:\n{listed}"
        "   = make it the only orchestration function; `validate` also takes its name as entry"
    )


def test_ssa_names_become_the_users():
    node = ir.deserialize_from_file(str(CORPUS / "11_after_ConvertTensorToTileOps.msgpack"))
    assert [(p.name, p.shape) for p in find_entry(node).parameters] == [
        ("x", ("N_ROWS", 64)),
        ("out", ("N_ROWS", 64)),
    ]


def test_a_host_program_is_refused():
    params = [ir.Var("x", ir.TensorType([ir.ConstInt(4, ir.DataType.INT64, SPAN)], ir.DataType.FP32), SPAN)]
    function = ir.Function(
        "drive", params, [], ir.SeqStmts([], SPAN), SPAN, ir.FunctionType.Opaque, ir.Level.HOST
    )
    with pytest.raises(ValueError) as caught:
        find_entry(ir.Program([function], "Host", SPAN))
    assert str(caught.value) == (
        "error[entry]: entry 'drive' of level HOST drives several cards\n"
        "   = programs run on one simulated card"
    )
