"""Checks of assigned values and parameters."""

import pytest
import torch
from preamble.rendered import Script


@pytest.fixture(scope="module")
def script():
    return Script(("checks",))


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [([16, 64], torch.float32), ([None, 64], torch.float32), ([None, None], torch.float32)],
)
def test_a_fitting_tensor_passes(script, shape, dtype):
    assert script["_check_tensor"]("t", torch.zeros(16, 64), shape, dtype) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "acc: got NoneType, expected a tensor of torch.float32"),
        (1.0, "acc: got float, expected a tensor of torch.float32"),
        (torch.zeros(16, 64).int(), "acc: got a tensor of torch.int32, expected torch.float32"),
        (torch.zeros(16, 64).double(), "acc: got a tensor of torch.float64, expected torch.float32"),
    ],
)
@pytest.mark.parametrize("check", ["_check_tensor", "_check_dtype"])
def test_a_wrong_type_or_dtype_is_a_type_error(script, check, value, problem):
    shape = ([16, 64],) if check == "_check_tensor" else ()
    with pytest.raises(TypeError) as caught:
        script[check]("acc", value, *shape, torch.float32)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([16], "[16]"),
        ([1, 16, 64], "[1, 16, 64]"),
        ([16, 32], "[16, 32]"),
        ([None, 32], "[any, 32]"),
        ([], "[]"),
    ],
)
def test_a_wrong_rank_or_extent_is_a_value_error(script, shape, expected):
    with pytest.raises(ValueError, match="^acc: got shape") as caught:
        script["_check_tensor"]("acc", torch.zeros(16, 64), shape, torch.float32)
    assert str(caught.value) == f"acc: got shape [16, 64], expected {expected}"


@pytest.mark.parametrize(
    ("declared", "brought"),
    [
        (torch.uint16, torch.uint16),
        (torch.uint16, torch.int32),
        (torch.uint32, torch.int32),
        (torch.uint32, torch.int64),
        (torch.uint64, torch.int64),
    ],
)
def test_unsigned_integers_may_come_in_a_carrier(script, declared, brought):
    script["_check_dtype"]("x", torch.zeros(4, dtype=brought), declared)
    script["_check_tensor"]("x", torch.zeros(4, dtype=brought), [4], declared)


@pytest.mark.parametrize("brought", [torch.int16, torch.uint32, torch.float32])
def test_what_cannot_carry_them_is_refused(script, brought):
    with pytest.raises(TypeError, match=r"^x: got a tensor of .*, expected torch\.uint16$"):
        script["_check_dtype"]("x", torch.zeros(4, dtype=brought), torch.uint16)
