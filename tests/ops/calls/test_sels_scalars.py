"""The scalar of sels: of the dtype of the source, or the signed one of its width; numbers are encoded so."""

from typing import Any

import pytest
import torch
from ops.calls.operands import D, built, scalar, tile

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.calls import OpCallError

INTEGERS = {
    "INT8": "INT8", "UINT8": "INT8", "INT16": "INT16", "UINT16": "INT16",
    "INT32": "INT32", "UINT32": "INT32", "INT64": "INT64", "UINT64": "INT64",
}  # fmt: skip
MASK = tile(8, 32, dtype=D.UINT8, name="m")


def chosen(dtype: str, value: Any) -> ir.Expr:
    """The scalar of a call on a source of that dtype."""
    source = tile(8, 32, dtype=getattr(D, dtype))
    return built("pl.sels", MASK, source, MASK, value).args[3]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_are_of_the_signed_dtype_of_the_width(dtype: str) -> None:
    bits = getattr(D, dtype).get_bit()
    lowest = -(2 ** (bits - 1))
    numbers = [(-3, -3), (-3.0, -3), (2**bits - 3, -3), (5, 5), (5.0, 5), (lowest, lowest)]
    for number, expected in numbers:
        found = chosen(dtype, number)
        assert isinstance(found, ir.ConstInt)
        assert (found.value, found.dtype.name.upper()) == (expected, INTEGERS[dtype])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_constants_of_the_unsigned_dtype_are_encoded_again(dtype: str) -> None:
    bits = getattr(D, dtype).get_bit()
    if bits < 64:  # a constant of the IR has no 64 bits without a sign
        constant = ir.ConstInt(2**bits - 3, getattr(D, f"UINT{bits}"), ir.Span.unknown())
        assert chosen(dtype, constant).value == -3
    assert chosen(dtype, ir.ConstInt(-3, getattr(D, INTEGERS[dtype]), ir.Span.unknown())).value == -3


@pytest.mark.parametrize(
    ("dtype", "value", "problem"),
    [
        ("INT32", 2.5, "is 2.5, and the elements are integers"),
        ("UINT8", float("inf"), "is inf, and the elements are integers"),
        ("INT8", 256, "is 256, which 8 bits do not hold"),
        ("UINT32", -(2**31) - 1, "is -2147483649, which 32 bits do not hold"),
        ("UINT32", scalar(D.UINT32), "is pl.Scalar[pl.UINT32], and its dtype must be INT32"),
        ("INT16", scalar(D.INT32), "is pl.Scalar[pl.INT32], and its dtype must be INT16"),
        ("INT32", scalar(D.INDEX), "is pl.Scalar[pl.INDEX], and its dtype must be INT32"),
        ("FP16", scalar(D.FP32), "is pl.Scalar[pl.FP32], and its dtype must be FP16"),
        ("INT32", True, "is pl.Scalar[pl.BOOL], and its dtype must be INT32"),
    ],
)  # fmt: skip
def test_other_scalars_are_refused(dtype: str, value: Any, problem: str) -> None:
    with pytest.raises(OpCallError) as caught:
        chosen(dtype, value)
    assert str(caught.value) == f"tile.sels: the operand 'scalar' {problem}"


def test_scalars_of_the_run_are_taken_in_that_dtype() -> None:
    for dtype, own in {"UINT32": D.INT32, "INT16": D.INT16, "FP16": D.FP16, "FP32": D.FP32}.items():
        value = scalar(own)
        assert chosen(dtype, value) is value


KERNEL = """import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def f(
    x: pl.Tensor[[8, 32], pl.{dtype}],
    b: pl.Tensor[[8, 32], pl.UINT8],
    out: pl.Out[pl.Tensor[[8, 32], pl.{dtype}]],
):
    t = pl.load(x, [0, 0], [8, 32])
    m = pl.load(b, [0, 0], [8, 32])
    pl.store({call}, [0, 0], out)
"""
TORCH = {"INT8": torch.int8, "UINT8": torch.uint8, "INT32": torch.int32, "UINT32": torch.uint32}


def computed(dtype: str, call: str) -> torch.Tensor:
    """What the kernel makes of ones where no bit of the mask is set."""
    scope: dict[str, Any] = {}
    exec(torch_codegen(pl.parse(KERNEL.format(dtype=dtype, call=call))), scope)
    out = torch.zeros(8, 32, dtype=TORCH.get(dtype, torch.float16))
    scope["f"](torch.ones(8, 32).to(out.dtype), torch.zeros(8, 32, dtype=torch.uint8), out)
    return out


@pytest.mark.parametrize("number", ["-3.0", "-3", "4294967293"])
@pytest.mark.parametrize("dtype", ["INT32", "UINT32"])
def test_what_is_stored_has_the_bits_of_the_number(dtype: str, number: str) -> None:
    found = computed(dtype, f"pl.sels(m, t, m, {number})")
    assert found.view(torch.int32).unique().tolist() == [-3]


def test_a_number_for_halves_is_one_of_theirs() -> None:
    assert computed("FP16", "pl.sels(m, t, m, 0.1)").unique().tolist() == [0.0999755859375]


WRAPPING = {"adds": 1 - 3, "muls": -3}
SATURATING = ["maximums", "expands"]  # with what is 1: the largest number that the elements have


@pytest.mark.parametrize("op", WRAPPING)
def test_other_ops_wrap_a_number_beyond_their_elements(op: str) -> None:
    """0xFFFFFFFD on signed and 0xFD on bytes are -3, as the device's registers hold them."""
    for dtype, number in {"INT32": 4294967293, "INT8": 253}.items():
        assert computed(dtype, f"pl.tile.{op}(t, {number})").unique().tolist() == [WRAPPING[op]]


@pytest.mark.parametrize("op", SATURATING)
def test_a_number_that_bounds_or_fills_is_the_nearest_of_the_elements(op: str) -> None:
    for dtype, (number, largest) in {"INT32": (4294967293, 2**31 - 1), "INT8": (253, 127)}.items():
        assert computed(dtype, f"pl.tile.{op}(t, {number})").unique().tolist() == [largest]


INTEGER_SCALARS = ["ands", "ors", "shls", "shrs"]


@pytest.mark.parametrize("kind", ["tile", "tensor"])
@pytest.mark.parametrize("op", INTEGER_SCALARS)
def test_bitwise_ops_refuse_a_float(op: str, kind: str) -> None:
    assert f"{kind}.{op}" in load_table()
    source = tile(8, 32, dtype=D.INT32)
    if kind == "tensor":
        source = ir.Var("x", ir.TensorType([8, 32], D.INT32), ir.Span.unknown())
    with pytest.raises(OpCallError, match="its dtype must be an integer"):
        built(f"pl.{kind}.{op}", source, 2.0)
