"""Binding arguments to the parameters of an entry."""

import ctypes
import math

import pytest
import torch

from pypto_tmpl.execution.entry import Entry, Parameter
from pypto_tmpl.execution.positional import ArgumentError, bind_positional


def entry(*params):
    return Entry("main", "main", tuple(params))


X = Parameter("x", "In", "FP32", (4, 8))
ROWS = Parameter("rows", "In", "INT32", ("N", 2))
OUT = Parameter("out", "Out", "INT32", ("N", None))


def scalar(dtype):
    return Parameter("n", "In", dtype, is_scalar=True)


def refusal(params, args, error=ValueError):
    with pytest.raises(error) as caught:
        bind_positional(entry(*params), args, must_agree=True)
    return str(caught.value).removeprefix("error[argument]: ")


def test_tensors_are_passed_as_they_are():
    x, rows = torch.zeros(4, 8), torch.zeros(3, 2, dtype=torch.int32)
    out = torch.zeros(3, 7, dtype=torch.int32)
    bound = bind_positional(entry(X, ROWS, OUT), [x, rows, out])
    assert [a is b for a, b in zip(bound, [x, rows, out], strict=True)] == [True] * 3


def test_a_wrong_number_of_arguments():
    assert refusal([X, ROWS], [torch.zeros(4, 8)]) == (
        "entry 'main' takes 2 arguments, got 1\n   = parameters: x, rows"
    )


@pytest.mark.parametrize("value", [1, 2.0, [1], None])
def test_python_values_are_no_arguments(value):
    assert refusal([scalar("INT32")], [value], TypeError) == (
        "Argument at position 0 must be torch.Tensor, DeviceTensor or ctypes scalar, "
        f"got {type(value).__name__}"
    )


def test_tensor_and_scalar_are_told_apart():
    assert refusal([scalar("INT32")], [torch.tensor(1)], TypeError) == "parameter 'n' is a scalar, got Tensor"
    assert refusal([X], [ctypes.c_int32(1)], TypeError) == "parameter 'x' is a tensor, got c_int"


def test_tensors_that_do_not_fit():
    assert refusal([X], [torch.zeros(4, 8).double()]) == (
        "tensor 'x' is torch.float64, the parameter is torch.float32"
    )
    assert refusal([X], [torch.zeros(8, 4)]) == "tensor 'x' has shape [8, 4], the parameter has [4, 8]"
    assert refusal([X], [torch.zeros(32)]) == "tensor 'x' has shape [32], the parameter has [4, 8]"
    assert refusal([X], [torch.zeros(8, 4).t()]) == (
        "tensor 'x' is not contiguous\n   = pass tensor.contiguous()"
    )
    assert refusal([X], [torch.zeros(4, 8, device="meta")]) == "tensor 'x' is on meta, not on the CPU"


def test_a_call_with_other_extents_warns_and_goes_on():
    x = torch.zeros(8, 4)
    with pytest.warns(UserWarning, match=r"tensor 'x' has shape \[8, 4\], the parameter has \[4, 8\]"):
        assert bind_positional(entry(X), [x])[0] is x


def test_dynamic_dimensions_agree():
    rows, out = torch.zeros(3, 2, dtype=torch.int32), torch.zeros(4, 1, dtype=torch.int32)
    entry = Entry("main", "main", (ROWS, OUT))
    with pytest.raises(ArgumentError, match="dimension N is 3 in 'rows', and 4 in 'out'"):
        bind_positional(entry, [rows, out], must_agree=True)
    wrong = r"tensor 'rows' has shape \[4, 1\], the parameter has \[N, 2\]"
    with pytest.warns(UserWarning, match=wrong + "; dimension N is 4 in 'rows', and 3 in 'out'") as found:
        assert bind_positional(entry, [out, rows])[0] is out
    assert len(found) == 1
    number = Parameter("N", "In", "INDEX", is_scalar=True)
    with pytest.raises(ArgumentError, match="dimension N is 3 in 'rows', and 5 in 'N'"):
        bind_positional(Entry("main", "main", (ROWS, number)), [rows, ctypes.c_int64(5)], must_agree=True)
    assert refusal([ROWS], [out]) == "tensor 'rows' has shape [4, 1], the parameter has [N, 2]"
    assert refusal([OUT], [torch.zeros(3, dtype=torch.int32)]) == (
        "tensor 'out' has shape [3], the parameter has [N, ?]"
    )


@pytest.mark.parametrize(
    ("dtype", "value", "number"),
    [
        ("INT8", ctypes.c_int8(-3), -3),
        ("INDEX", ctypes.c_int64(2**40), 2**40),
        ("UINT64", ctypes.c_uint64(2**64 - 1), 2**64 - 1),
        ("BOOL", ctypes.c_bool(True), True),
        ("INT32", ctypes.c_bool(True), 1),
        ("FP32", ctypes.c_float(0.5), 0.5),
        ("FP16", ctypes.c_uint16(0x3C01), 1 + 2**-10),  # 1 and the lowest of ten mantissa bits
        ("BF16", ctypes.c_uint16(0xC040), -3.0),
        ("BF16", ctypes.c_float(1.5), 1.5),
        ("UINT16", ctypes.c_uint16(0x3C01), 0x3C01),
    ],
)
def test_scalars_become_numbers(dtype, value, number):
    (bound,) = bind_positional(entry(scalar(dtype)), [value])
    assert bound == number
    assert type(bound) is type(number)


def test_half_infinities_and_nan():
    bound = bind_positional(
        entry(scalar("FP16"), scalar("BF16")), [ctypes.c_uint16(0x7C00), ctypes.c_uint16(0x7FC0)]
    )
    assert bound[0] == math.inf
    assert math.isnan(bound[1])


def test_scalars_of_the_wrong_kind():
    assert refusal([scalar("INT32")], [ctypes.c_float(1)], TypeError) == "scalar 'n' is INT32, got c_float"
    assert refusal([scalar("FP32")], [ctypes.c_int32(1)], TypeError) == "scalar 'n' is FP32, got c_int"
    assert (
        refusal([scalar("FP32")], [ctypes.c_char(b"a")], TypeError)
        == "parameter 'n' takes a number, got c_char"
    )
