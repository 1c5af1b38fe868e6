"""Scalars as operands, integer division and wide unsigned integers."""

import math
from fractions import Fraction

import pytest
import torch
from preamble.rendered import Script

INF, NAN = float("inf"), float("nan")
INT_MIN = -(2**31)


@pytest.fixture(scope="module")
def script():
    return Script(("scalars",))


@pytest.mark.parametrize(
    ("value", "bits", "signed", "wrapped"),
    [
        (127, 8, True, 127),
        (128, 8, True, -128),
        (-129, 8, True, 127),
        (2**31, 32, True, INT_MIN),
        (256, 8, False, 0),
        (-1, 16, False, 65535),
        (2**64 + 5, 64, False, 5),
    ],
)
def test_integers_wrap(script, value, bits, signed, wrapped):
    assert script["_wrap_int"](value, bits, signed) == wrapped


@pytest.mark.parametrize("left", range(-7, 8))
@pytest.mark.parametrize("right", [-3, -2, -1, 1, 2, 3])
def test_integer_division_rounds_toward_zero(script, left, right):
    assert script["_int_div"](left, right) == math.trunc(Fraction(left, right))


@pytest.mark.parametrize(
    ("value", "dtype", "number"),
    [
        (0.1, torch.bfloat16, 0.10009765625),
        (0.1, torch.float16, 0.0999755859375),
        (0.1, torch.float32, 0.10000000149011612),
        (1.01953125, torch.bfloat16, 1.015625),
        (3, torch.bfloat16, 3.0),
        (INF, torch.float16, INF),
        (70000.0, torch.float16, INF),
        (5.7, torch.int32, 5),
        (-5.7, torch.int32, -5),
        (3e9, torch.int32, 2**31 - 1),
        (-INF, torch.int8, -128),
        (-1.0, torch.uint8, 0),
        (NAN, torch.int32, 0),
        (200, torch.int8, -56),
        (-1, torch.uint16, 65535),
        (2**40 + 7, torch.int16, 7),
        (True, torch.int32, 1),
        (torch.tensor(300), torch.uint8, 44),
        (torch.tensor(0.1, dtype=torch.float64), torch.bfloat16, 0.10009765625),
    ],
)
def test_a_scalar_takes_the_dtype_of_its_tile(script, value, dtype, number):
    converted = script["_as_dtype"](value, dtype)
    assert converted == number
    assert type(converted) is (float if dtype.is_floating_point else int)


def test_a_tile_keeps_its_dtype_beside_a_converted_scalar(script):
    as_dtype = script["_as_dtype"]
    assert (torch.ones(2, dtype=torch.bfloat16) * as_dtype(0.1, torch.bfloat16)).dtype == torch.bfloat16
    assert (torch.ones(2, dtype=torch.int16) * as_dtype(2.0, torch.int16)).dtype == torch.int16


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_tiles_of_integers_divide_toward_zero(script, dtype):
    info = torch.iinfo(dtype)
    left = torch.tensor([7, -7, 7, -7, 5, -5, 0, info.min, info.min, 9], dtype=dtype)
    right = torch.tensor([2, 2, -2, -2, 0, 0, 0, -1, 1, -1], dtype=dtype)
    quotient = script["_tile_int_div"](left, right)
    assert quotient.dtype == dtype
    assert quotient.tolist() == [3, -3, -3, 3, 0, 0, 0, info.min, info.min, -9]


@pytest.mark.parametrize(("divisor", "quotient"), [(0, [0, 0]), (-1, [INT_MIN, -7]), (2, [-(2**30), 3])])
def test_a_tile_divided_by_a_scalar(script, divisor, quotient):
    tile = torch.tensor([INT_MIN, 7], dtype=torch.int32)
    assert script["_tile_int_div"](tile, divisor).tolist() == quotient


def test_a_row_vector_divides_its_rows(script):
    tile, row = torch.tensor([[7, 8], [9, -9]]), torch.tensor([[2], [0]])
    assert script["_tile_int_div"](tile, row).tolist() == [[3, 4], [0, 0]]


@pytest.mark.parametrize(
    ("function", "operands", "result"),
    [
        (torch.add, ([65535], [1]), [0]),
        (torch.sub, ([3], [5]), [65534]),
        (torch.mul, ([65535], [65535]), [1]),
        (torch.bitwise_right_shift, ([0x8000], 1), [0x4000]),
        (torch.maximum, ([65535], [1]), [65535]),
        (torch.neg, ([1],), [65535]),
        (torch.abs, ([65535],), [65535]),
        (torch.clamp, ([3, 9], 5), [5, 9]),
        (torch.add, ([5], -6), [65535]),
    ],
)
@pytest.mark.parametrize("carrier", [torch.uint16, torch.int32])
def test_uint16_arithmetic(script, function, operands, result, carrier):
    tensors = [torch.tensor(x, dtype=carrier) if isinstance(x, list) else x for x in operands]
    computed = script["_unsigned_op"](function, torch.uint16, *tensors)
    assert computed.dtype == torch.uint16
    assert computed.tolist() == result


def test_uint32_arithmetic(script):
    big = torch.tensor([0x80000000, 0xFFFFFFFF], dtype=torch.uint32)
    unsigned = script["_unsigned_op"]
    assert unsigned(torch.bitwise_right_shift, torch.uint32, big, 1).tolist() == [0x40000000, 0x7FFFFFFF]
    assert unsigned(torch.mul, torch.uint32, big, big).tolist() == [0, 1]
    assert unsigned(torch.add, torch.uint32, big, 1).tolist() == [0x80000001, 0]
    bits = torch.tensor([INT_MIN], dtype=torch.int32)  # the carrier holds the same 32 bits
    assert unsigned(torch.bitwise_right_shift, torch.uint32, bits, 1).tolist() == [0x40000000]
    assert unsigned(script["_tile_int_div"], torch.uint32, big, 0x10).tolist() == [0x8000000, 0xFFFFFFF]
