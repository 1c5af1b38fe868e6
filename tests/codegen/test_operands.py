"""What macros see of a call."""

import copy
import pickle

import msgspec
import pytest
from markupsafe import escape

from pypto_tmpl.codegen.filters import FilterError, py_literal, torch_dtype
from pypto_tmpl.codegen.operands import CallError, Operand, UnknownNameError, bind_attributes, bind_operands
from pypto_tmpl.ops import OpEntry

ENTRY = msgspec.convert(
    {
        "name": "tile.some_op",
        "summary": "An op.",
        "operands": [
            {"name": "src", "kind": "tile"},
            {"name": "tmp", "kind": "tile", "optional": True},
            {"name": "flag", "kind": "scalar", "optional": True},
        ],
        "kwargs": [
            {"name": "mode", "type": "int", "required": True},
            {"name": "pad", "type": "PadValue", "default": "zero"},
            {"name": "stride", "type": "int"},
        ],
        "result": "none",
        "emit": "noop",
    },
    OpEntry,
)
TILE = Operand("t", dtype_name="BF16", shape=["4", "n"], memory="Vec")


def test_an_operand_is_its_text() -> None:
    assert TILE == "t"
    assert f"({TILE} + 1)" == "(t + 1)"
    assert (TILE.rank, TILE.dtype, TILE.dtype_class, TILE.bits) == (2, "torch.bfloat16", "narrow_float", 16)
    assert (TILE.valid, TILE.valid_items, TILE.items, TILE.is_literal) == (None, None, None, False)


def test_an_operand_without_elements_has_no_dtype() -> None:
    offsets = Operand("[0, i]", items=["0", "i"])
    assert (offsets.dtype, offsets.dtype_class, offsets.bits, offsets.rank) == (None, None, None, None)
    assert offsets.items == ["0", "i"]


def test_a_dtype_that_torch_lacks() -> None:
    with pytest.raises(FilterError, match="torch has no dtype for 'HF4'"):
        _ = Operand("t", dtype_name="HF4").dtype


def test_unknown_facts_are_no_attribute_errors() -> None:
    with pytest.raises(UnknownNameError) as caught:
        _ = TILE.shpae  # type: ignore[attr-defined]
    assert not isinstance(caught.value, AttributeError | LookupError | TypeError)
    assert "did you mean 'shape'?" in str(caught.value)


def test_probes_of_libraries_are_answered() -> None:
    assert not hasattr(TILE, "__html__")
    assert escape(TILE) == "t"
    assert not hasattr(bind_operands(ENTRY, [TILE]), "__html__")
    assert copy.copy(TILE.shape) == ["4", "n"]
    assert pickle.loads(pickle.dumps(str(TILE))) == "t"


def test_operands_get_their_names_in_order() -> None:
    operands = bind_operands(ENTRY, [TILE, None, Operand("True", is_literal=True)])
    assert (operands.src, operands.tmp, operands.flag) == ("t", None, "True")
    assert bind_operands(ENTRY, [TILE]).flag is None


def test_keywords_are_completed() -> None:
    attributes = bind_attributes(ENTRY, {"mode": 2, "other": 1}, result=TILE, in_kernel=False)
    assert (attributes.mode, attributes.pad, attributes.stride) == (2, "zero", None)
    assert (attributes.result, attributes.in_kernel) == ("t", False)
    with pytest.raises(UnknownNameError):
        _ = attributes.other


NOTES = "   = operands: src, tmp (optional), flag (optional)\n   = keywords: mode (required), pad, stride"


def test_calls_that_do_not_fit() -> None:
    with pytest.raises(CallError) as caught:
        bind_operands(ENTRY, [TILE] * 4)
    assert str(caught.value) == f"error[op-call]: tile.some_op takes 3 operands, the call has 4\n{NOTES}"
    with pytest.raises(CallError) as caught:
        bind_operands(ENTRY, [None, TILE])
    assert str(caught.value) == (
        f"error[op-call]: tile.some_op needs the operand 'src', the call does not have it\n{NOTES}"
    )
    with pytest.raises(CallError) as caught:
        bind_attributes(ENTRY, {"pad": "max"}, result=None, in_kernel=True)
    assert str(caught.value) == (
        f"error[op-call]: tile.some_op needs the keyword 'mode', the call does not have it\n{NOTES}"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (-3, "-3"),
        (0.1, "0.1"),
        (float("inf"), 'float("inf")'),
        (float("-inf"), 'float("-inf")'),
        (float("nan"), 'float("nan")'),
        ("it's", '"it\'s"'),
        (TILE, '"t"'),
        ('say "x"', "'say \"x\"'"),
        ([1, "a"], '[1, "a"]'),
        ((1,), "(1,)"),
        ((1, [2]), "(1, [2])"),
        ((), "()"),
    ],
)
def test_py_literal(value: object, text: str) -> None:
    assert py_literal(value) == text


@pytest.mark.parametrize("value", [{}, {1}, object(), 1j, b"x"])
def test_py_literal_refuses_what_has_none(value: object) -> None:
    with pytest.raises(FilterError):
        py_literal(value)


def test_torch_dtype() -> None:
    import torch

    assert torch_dtype("INDEX") == "torch.int64"
    for name in (
        "BOOL",
        "INT8",
        "UINT8",
        "UINT64",
        "FP16",
        "BF16",
        "FP32",
        "FP8E4M3FN",
        "FP8E5M2",
        "FP8E8M0",
    ):
        assert isinstance(eval(torch_dtype(name), {"torch": torch}), torch.dtype)
