"""Remainders of integers, and the numbers behind wide unsigned dtypes."""

import math
from fractions import Fraction

import pytest
import torch
from preamble.rendered import Script

INT_MIN = -(2**31)


@pytest.fixture(scope="module")
def script():
    return Script(("integers",))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_the_sign_of_the_divisor_and_of_the_dividend(script, dtype):
    pairs = [(left, right) for left in range(-9, 10) for right in range(-4, 5) if right]
    left, right = (torch.tensor(numbers, dtype=dtype) for numbers in zip(*pairs, strict=True))
    rem, fmod = script["_tile_int_rem"](left, right), script["_tile_int_fmod"](left, right)
    assert rem.dtype == fmod.dtype == dtype
    assert rem.tolist() == [x - math.floor(Fraction(x, y)) * y for x, y in pairs]
    assert fmod.tolist() == [x - math.trunc(Fraction(x, y)) * y for x, y in pairs]


@pytest.mark.parametrize("name", ["_tile_int_rem", "_tile_int_fmod"])
def test_divisors_that_torch_does_not_take(script, name):
    left = torch.tensor([[7, -7, INT_MIN], [7, -7, INT_MIN]], dtype=torch.int32)
    right = torch.tensor([[0], [-1]], dtype=torch.int32)
    assert script[name](left, right).tolist() == [[7, -7, INT_MIN], [0, 0, 0]]
    assert script[name](left, 0).tolist() == left.tolist()
    assert script[name](left, -1).tolist() == [[0, 0, 0]] * 2


def test_numbers_of_unsigned_dtypes_and_their_carriers(script):
    numbers = script["_unsigned_values"]
    top = torch.tensor([2**32 - 1, 5], dtype=torch.uint32)
    for tile in (top, top.view(torch.int32), top.long()):
        assert numbers(tile, torch.uint32).tolist() == [2**32 - 1, 5]
    assert numbers(torch.tensor([-1], dtype=torch.int32), torch.uint16).tolist() == [65535]
